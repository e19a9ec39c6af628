/**
 * Errors that the validation of a pod spec tolerates: rules that were added after an object was stored must not
 * block its updates. Feature gates are those of v1.36 with their defaults, so gates that are on are not
 * options here.
 */

import { isHugePages } from '../../../../kube/amounts.ts'
import { boolean, type Fields, isSet, maybeBoolean, maybeObject, objects, string } from '../fields.ts'
import { affinitySelectorErrors, requiredNodeAffinityErrors } from './affinity.ts'
import { checkPodDeletionCost } from './annotations.ts'
import { allContainers } from './containers-walk.ts'
import { isWholeHugePages, quantitiesAsSent } from './quantities.ts'
import { isHostSysctl } from './sysctls.ts'
import { matchLabelKeyErrors, spreadSelectorErrors } from './topology-spread.ts'
import { localPathErrors } from './volume-paths.ts'

export interface PodOptions {
  /** A pod itself, not a template. */
  isPod: boolean
  allowInvalidDeletionCost: boolean
  allowInvalidAffinitySelector: boolean
  allowInvalidRequiredNodeAffinity: boolean
  allowIndivisibleHugePages: boolean
  allowInvalidSpreadSelector: boolean
  allowInvalidMatchLabelKeys: boolean
  allowNonLocalTokenPath: boolean
  allowHostSysctls: boolean
  /** Without the SELinuxMount gate only `Recursive` may be newly set. */
  onlyRecursiveSELinuxChange: boolean
  allowUserNamespaceOnHostNetwork: boolean
  allowUserNamespaceVolumeDevices: boolean
  allowRestartContainerForInit: boolean
}

export interface SpecAndMeta {
  spec: Fields
  metadata: Fields
}

/** `old` is what the server holds now; absent on create. */
export function podOptions(isPod: boolean, old: SpecAndMeta | undefined): PodOptions {
  const spec = old?.spec
  return {
    isPod,
    allowInvalidDeletionCost: old !== undefined && checkPodDeletionCost(old.metadata) !== undefined,
    allowInvalidAffinitySelector: spec !== undefined && affinitySelectorErrors(spec).length > 0,
    allowInvalidRequiredNodeAffinity: spec !== undefined && requiredNodeAffinityErrors(spec).length > 0,
    allowIndivisibleHugePages: spec !== undefined && usesIndivisibleHugePages(spec),
    allowInvalidSpreadSelector:
      spec !== undefined && objects(spec, 'topologySpreadConstraints').some((c) => spreadSelectorErrors(c).length > 0),
    allowInvalidMatchLabelKeys:
      spec !== undefined && objects(spec, 'topologySpreadConstraints').some((c) => matchLabelKeyErrors('', c).length > 0),
    allowNonLocalTokenPath: spec !== undefined && usesNonLocalTokenPath(spec),
    allowHostSysctls:
      spec !== undefined &&
      objects(maybeObject(spec, 'securityContext'), 'sysctls').some((s) => isHostSysctl(string(s, 'name'), spec) !== undefined),
    onlyRecursiveSELinuxChange: !isSet(maybeObject(spec, 'securityContext'), 'seLinuxChangePolicy'),
    allowUserNamespaceOnHostNetwork: boolean(spec, 'hostNetwork') && maybeBoolean(spec, 'hostUsers') === false,
    allowUserNamespaceVolumeDevices:
      maybeBoolean(spec, 'hostUsers') === false &&
      allContainers(spec).some(({ container }) => objects(container, 'volumeDevices').length > 0),
    allowRestartContainerForInit: objects(spec, 'initContainers').some(
      (c) =>
        string(c, 'restartPolicy') !== 'Always' &&
        objects(c, 'resizePolicy').some((p) => string(p, 'restartPolicy') === 'RestartContainer'),
    ),
  }
}

function usesIndivisibleHugePages(spec: Fields): boolean {
  const isIndivisible = (holder: Fields | undefined, key: string): boolean =>
    [...quantitiesAsSent(holder, key)].some(([name, amount]) => isHugePages(name) && !isWholeHugePages(name, amount))
  return (
    isIndivisible(spec, 'overhead') ||
    allContainers(spec).some(({ container }) => {
      const resources = maybeObject(container, 'resources')
      return isIndivisible(resources, 'limits') || isIndivisible(resources, 'requests')
    })
  )
}

const usesNonLocalTokenPath = (spec: Fields): boolean =>
  objects(spec, 'volumes').some((volume) =>
    objects(maybeObject(volume, 'projected'), 'sources').some((source) => {
      const token = maybeObject(source, 'serviceAccountToken')
      return token !== undefined && localPathErrors('', string(token, 'path')).length > 0
    }),
  )
