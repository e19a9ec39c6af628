/**
 * The objects a pod cannot start without: ConfigMaps, Secrets, its ServiceAccount and its claims. Native rules and the Lua
 * function `kube.getPodDependencies` share this. The order is fixed (by kind as listed here, then by name), so that equal
 * templates give equal answers.
 */
import { compareStrings } from '../../../kube/go-print.ts'
import { type Fields, fieldsAt, listAt, textAt } from '../../fields.ts'
import type { DependentReference } from '../interpreter.ts'

export interface DependencyOptions {
  /** Claims that the owner makes itself, as a StatefulSet does. */
  ownClaims?: ReadonlySet<string>
}

export function podDependencies(template: unknown, namespace: string, options: DependencyOptions = {}): DependentReference[] {
  const pod = fieldsAt(template, 'spec')
  const containers = [...listAt(pod, 'initContainers'), ...listAt(pod, 'containers'), ...listAt(pod, 'ephemeralContainers')]
  const volumes = listAt(pod, 'volumes')
  const configMaps = [...containers.flatMap((c) => environment(c, 'configMap')), ...volumes.flatMap(configMapsOfVolume)]
  const secrets = [
    ...listAt(pod, 'imagePullSecrets').map((reference) => textAt(reference, 'name')),
    ...containers.flatMap((c) => environment(c, 'secret')),
    ...volumes.flatMap(secretsOfVolume),
  ]
  const account = textAt(pod, 'serviceAccountName')
  const claims = volumes
    .map((volume) => textAt(volume, 'persistentVolumeClaim', 'claimName'))
    .filter((name) => name === undefined || !options.ownClaims?.has(name))
  return [
    ...references('ConfigMap', configMaps, namespace),
    ...references('Secret', secrets, namespace),
    ...references('ServiceAccount', [account === 'default' ? undefined : account], namespace),
    ...references('PersistentVolumeClaim', claims, namespace),
  ]
}

type Name = string | undefined

function references(kind: string, names: readonly Name[], namespace: string): DependentReference[] {
  const known = new Set(names.filter((name): name is string => name !== undefined && name !== ''))
  return [...known].sort(compareStrings).map((name) => ({ apiVersion: 'v1', kind, ...(namespace === '' ? {} : { namespace }), name }))
}

/** What `env` and `envFrom` refer to: `configMap` or `secret` is the stem of the fields' names. */
function environment(container: Fields, stem: 'configMap' | 'secret'): Name[] {
  return [
    ...listAt(container, 'envFrom').map((source) => textAt(source, `${stem}Ref`, 'name')),
    ...listAt(container, 'env').map((variable) => textAt(variable, 'valueFrom', `${stem}KeyRef`, 'name')),
  ]
}

const configMapsOfVolume = (volume: Fields): Name[] => [
  textAt(volume, 'configMap', 'name'),
  ...listAt(volume, 'projected', 'sources').map((source) => textAt(source, 'configMap', 'name')),
]

/** Volume sources that name a Secret in a `secretRef`. */
const WITH_SECRET_REF = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const

const secretsOfVolume = (volume: Fields): Name[] => [
  textAt(volume, 'secret', 'secretName'),
  textAt(volume, 'azureFile', 'secretName'),
  textAt(volume, 'csi', 'nodePublishSecretRef', 'name'),
  ...WITH_SECRET_REF.map((source) => textAt(volume, source, 'secretRef', 'name')),
  ...listAt(volume, 'projected', 'sources').map((source) => textAt(source, 'secret', 'name')),
]
