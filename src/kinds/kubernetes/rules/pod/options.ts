/**
 * What the validation of a pod spec lets pass although it is wrong: rules that came after an object was stored do not
 * stand in the way of its updates. Feature gates are those of v1.36 with their defaults, so gates that are on are no
 * option here at all.
 */

import { affinitySelectorErrors, requiredNodeAffinityErrors } from './affinity.ts'
import { checkPodDeletionCost } from './annotations.ts'
import { allContainers } from './containers-walk.ts'
import { amountsOf, isHugePages, isWholeHugePages } from './quantities.ts'
import { type Fields, fields, flag, flagOrUnset, isSet, items, text } from './read.ts'
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
      spec !== undefined && items(spec, 'topologySpreadConstraints').some((c) => spreadSelectorErrors(c).length > 0),
    allowInvalidMatchLabelKeys:
      spec !== undefined && items(spec, 'topologySpreadConstraints').some((c) => matchLabelKeyErrors('', c).length > 0),
    allowNonLocalTokenPath: spec !== undefined && usesNonLocalTokenPath(spec),
    allowHostSysctls:
      spec !== undefined &&
      items(fields(spec, 'securityContext'), 'sysctls').some((s) => isHostSysctl(text(s, 'name'), spec) !== undefined),
    onlyRecursiveSELinuxChange: !isSet(fields(spec, 'securityContext'), 'seLinuxChangePolicy'),
    allowUserNamespaceOnHostNetwork: flag(spec, 'hostNetwork') && flagOrUnset(spec, 'hostUsers') === false,
    allowUserNamespaceVolumeDevices:
      flagOrUnset(spec, 'hostUsers') === false && allContainers(spec).some(({ container }) => items(container, 'volumeDevices').length > 0),
    allowRestartContainerForInit: items(spec, 'initContainers').some(
      (c) => text(c, 'restartPolicy') !== 'Always' && items(c, 'resizePolicy').some((p) => text(p, 'restartPolicy') === 'RestartContainer'),
    ),
  }
}

function usesIndivisibleHugePages(spec: Fields): boolean {
  const isIndivisible = (holder: Fields | undefined, key: string): boolean =>
    [...amountsOf(holder, key)].some(([name, amount]) => isHugePages(name) && !isWholeHugePages(name, amount))
  return (
    isIndivisible(spec, 'overhead') ||
    allContainers(spec).some(({ container }) => {
      const resources = fields(container, 'resources')
      return isIndivisible(resources, 'limits') || isIndivisible(resources, 'requests')
    })
  )
}

const usesNonLocalTokenPath = (spec: Fields): boolean =>
  items(spec, 'volumes').some((volume) =>
    items(fields(volume, 'projected'), 'sources').some((source) => {
      const token = fields(source, 'serviceAccountToken')
      return token !== undefined && localPathErrors('', text(token, 'path')).length > 0
    }),
  )
