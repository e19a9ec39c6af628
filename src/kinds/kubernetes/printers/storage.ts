/** Rows of volumes, claims and the kinds of storage.k8s.io. */
import type { KubeObject } from '../../../kube/meta.ts'
import { ageOf, at, type Cells, list, nameOf, text, texts } from './fields.ts'

const MODES: readonly [string, string][] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

function accessModes(modes: unknown): string {
  const given = texts(modes)
  return MODES.filter(([mode]) => given.includes(mode))
    .map(([, short]) => short)
    .join(',')
}

/** The old annotation wins over the field. */
const classOf = (object: KubeObject): string =>
  object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? text(at(object, 'spec', 'storageClassName'))

const phaseOf = (object: KubeObject): string =>
  object.metadata.deletionTimestamp === undefined ? text(at(object, 'status', 'phase')) : 'Terminating'

/** A claim's capacity; an absent quantity prints as zero. */
const storageOf = (resources: unknown): string => String(at(resources, 'storage') ?? '0')

export const persistentVolume: Cells = (object, nowMs) => {
  const claim = at(object, 'spec', 'claimRef')
  return [
    nameOf(object),
    storageOf(at(object, 'spec', 'capacity')),
    accessModes(at(object, 'spec', 'accessModes')),
    text(at(object, 'spec', 'persistentVolumeReclaimPolicy')),
    phaseOf(object),
    claim === undefined ? '' : `${text(at(claim, 'namespace'))}/${text(at(claim, 'name'))}`,
    classOf(object),
    text(at(object, 'spec', 'volumeAttributesClassName'), '<unset>'),
    text(at(object, 'status', 'reason')),
    ageOf(object, nowMs),
    text(at(object, 'spec', 'volumeMode'), '<unset>'),
  ]
}

export const persistentVolumeClaim: Cells = (object, nowMs) => {
  const volume = text(at(object, 'spec', 'volumeName'))
  return [
    nameOf(object),
    phaseOf(object),
    volume,
    volume === '' ? '' : storageOf(at(object, 'status', 'capacity')),
    volume === '' ? '' : accessModes(at(object, 'status', 'accessModes')),
    classOf(object),
    text(at(object, 'spec', 'volumeAttributesClassName'), '<unset>'),
    ageOf(object, nowMs),
    text(at(object, 'spec', 'volumeMode'), '<unset>'),
  ]
}

const DEFAULT_CLASS = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class']

export const storageClass: Cells = (object, nowMs) => {
  const isDefault = DEFAULT_CLASS.some((key) => object.metadata.annotations?.[key] === 'true')
  return [
    nameOf(object) + (isDefault ? ' (default)' : ''),
    text(at(object, 'provisioner')),
    text(at(object, 'reclaimPolicy'), 'Delete'),
    text(at(object, 'volumeBindingMode'), 'Immediate'),
    at(object, 'allowVolumeExpansion') === true,
    ageOf(object, nowMs),
  ]
}

export const csiDriver: Cells = (object, nowMs) => {
  const tokens = at(object, 'spec', 'tokenRequests')
  return [
    nameOf(object),
    at(object, 'spec', 'attachRequired') !== false,
    at(object, 'spec', 'podInfoOnMount') === true,
    at(object, 'spec', 'storageCapacity') === true,
    tokens === undefined
      ? '<unset>'
      : list(tokens)
          .map((token) => text(at(token, 'audience')))
          .join(','),
    at(object, 'spec', 'requiresRepublish') === true,
    texts(at(object, 'spec', 'volumeLifecycleModes')).join(',') || '<none>',
    ageOf(object, nowMs),
  ]
}

export const csiNode: Cells = (object, nowMs) => [nameOf(object), list(at(object, 'spec', 'drivers')).length, ageOf(object, nowMs)]

export const volumeAttachment: Cells = (object, nowMs) => [
  nameOf(object),
  text(at(object, 'spec', 'attacher')),
  text(at(object, 'spec', 'source', 'persistentVolumeName')),
  text(at(object, 'spec', 'nodeName')),
  at(object, 'status', 'attached') === true,
  ageOf(object, nowMs),
]

export const volumeAttributesClass: Cells = (object, nowMs) => [nameOf(object), text(at(object, 'driverName')), ageOf(object, nowMs)]
