/** PersistentVolume: one volume source, which never changes, and a status of its own. */
import { child, type FieldError, forbidden, invalid, keyed, required } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { formatQuantity, quantitySign, quantityValue } from '../../../../kube/quantity.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import {
  annotation,
  defaultString,
  defaultValue,
  ensureObject,
  type Fields,
  field,
  maybeObject,
  maybeString,
  object,
  restore,
  string,
  strings,
} from '../fields.ts'
import { dnsSubdomainErrors, immutableErrors, quantity } from '../formats.ts'
import { unsupported } from '../pod/errors.ts'
import { internalValue } from '../pod/internal-json.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { nodeSelectorErrors } from '../storage/node-selector.ts'
import { sourceDefaults, sourceDiff, sourceErrors, sourcesOf } from './persistent-volume-source.ts'

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
export const VOLUME_MODES = ['Block', 'Filesystem']
const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain']
const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options'
const STORAGE_CLASS = 'volume.beta.kubernetes.io/storage-class'

export function accessModeErrors(path: string, modes: readonly string[]): FieldError[] {
  const errors = modes.flatMap((mode) => (ACCESS_MODES.includes(mode) ? [] : [unsupported(path, mode, ACCESS_MODES)]))
  const single = modes.includes('ReadWriteOncePod')
  const others = modes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode))
  return single && others ? [...errors, forbidden(path, 'may not use ReadWriteOncePod with other access modes')] : errors
}

function capacityErrors(path: string, spec: Fields): FieldError[] {
  const capacity = object(spec, 'capacity')
  const names = Object.keys(capacity).sort()
  const errors = names.length === 0 ? [required(path)] : []
  if (names.length !== 1 || names[0] !== 'storage') errors.push(unsupported(path, field(spec, 'capacity') ?? null, ['storage']))
  for (const name of names) {
    const amount = quantity(capacity, name)
    if (quantityValue(amount) < 0) errors.push(invalid(keyed(path, name), quantityValue(amount), 'must be a valid resource quantity'))
    if (quantitySign(amount) <= 0) errors.push(invalid(keyed(path, name), formatQuantity(amount), 'must be greater than zero'))
  }
  return errors
}

export interface VolumeSpecOptions {
  name: string
  path: string
  /** A spec inside a VolumeAttachment, which may state only part of it. */
  inline: boolean
  /** The object already has node labels that are no longer valid. */
  tolerant: boolean
}

export function volumeSpecErrors(spec: Fields, options: VolumeSpecOptions): FieldError[] {
  const { path, inline } = options
  const modes = strings(spec, 'accessModes')
  const errors: FieldError[] = inline ? inlineErrors(path, spec) : []
  if (modes.length === 0) errors.push(required(child(path, 'accessModes')))
  errors.push(...accessModeErrors(child(path, 'accessModes'), modes))
  if (!inline) errors.push(...capacityErrors(child(path, 'capacity'), spec))
  const policy = string(spec, 'persistentVolumeReclaimPolicy')
  const policyPath = child(path, 'persistentVolumeReclaimPolicy')
  if (inline && policy !== '' && policy !== 'Retain')
    errors.push(forbidden(policyPath, 'may only be Retain in the context of inline volumes'))
  else if (policy !== '' && !RECLAIM_POLICIES.includes(policy)) errors.push(unsupported(policyPath, policy, RECLAIM_POLICIES))
  const affinity = maybeObject(spec, 'nodeAffinity')
  if (affinity !== undefined) errors.push(...affinityErrors(child(path, 'nodeAffinity'), affinity, options))
  errors.push(...sourceErrors(spec, { path, name: options.name, hasAffinity: affinity !== undefined && !inline }))
  if (policy === 'Recycle' && isRootPath(string(object(spec, 'hostPath'), 'path')) && field(spec, 'hostPath') !== undefined)
    errors.push(forbidden(policyPath, "may not be 'recycle' for a hostPath mount of '/'"))
  return [...errors, ...classErrors(path, spec, inline)]
}

const isRootPath = (path: string): boolean => path.startsWith('/') && path.split('/').every((part) => part === '' || part === '.')

function inlineErrors(path: string, spec: Fields): FieldError[] {
  const not = 'may not be specified in the context of inline volumes'
  const errors = field(spec, 'claimRef') === undefined ? [] : [forbidden(child(path, 'claimRef'), not)]
  if (Object.keys(object(spec, 'capacity')).length > 0) errors.push(forbidden(child(path, 'capacity'), not))
  if (field(spec, 'csi') === undefined) errors.push(required(child(path, 'csi'), 'has to be specified in the context of inline volumes'))
  return errors
}

function affinityErrors(path: string, affinity: Fields, { inline, tolerant }: VolumeSpecOptions): FieldError[] {
  if (inline) return [forbidden(path, 'may not be specified in the context of inline volumes')]
  const node = maybeObject(affinity, 'required')
  if (node === undefined) return [required(child(path, 'required'), 'must specify required node constraints')]
  return nodeSelectorErrors(child(path, 'required'), node, tolerant)
}

function classErrors(path: string, spec: Fields, inline: boolean): FieldError[] {
  const errors: FieldError[] = []
  const storageClass = string(spec, 'storageClassName')
  const classPath = child(path, 'storageClassName')
  if (storageClass !== '')
    errors.push(
      ...(inline
        ? [forbidden(classPath, 'may not be specified in the context of inline volumes')]
        : dnsSubdomainErrors(classPath, storageClass)),
    )
  const mode = maybeString(spec, 'volumeMode')
  if (inline && mode !== undefined && mode !== 'Filesystem')
    errors.push(forbidden(child(path, 'volumeMode'), 'may not specify volumeMode other than Filesystem in the context of inline volumes'))
  else if (mode !== undefined && !VOLUME_MODES.includes(mode)) errors.push(unsupported(child(path, 'volumeMode'), mode, VOLUME_MODES))
  const attributes = maybeString(spec, 'volumeAttributesClassName')
  if (attributes === undefined) return errors
  const attributesPath = child(path, 'volumeAttributesClassName')
  errors.push(
    ...(attributes === '' ? [required(attributesPath, 'an empty string is disallowed')] : dnsSubdomainErrors(attributesPath, attributes)),
  )
  if (field(spec, 'csi') === undefined)
    errors.push(required(child(path, 'csi'), 'has to be specified when using volumeAttributesClassName'))
  return errors
}

const MOUNTABLE =
  'gcePersistentDisk awsElasticBlockStore glusterfs nfs rbd quobyte iscsi cinder cephfs azureFile vsphereVolume azureDisk photonPersistentDisk'.split(
    ' ',
  )

function mountOptionErrors(volume: KubeObject): FieldError[] {
  if (annotation(volume, MOUNT_OPTIONS) === undefined) return []
  if (MOUNTABLE.some((source) => field(object(volume, 'spec'), source) !== undefined)) return []
  return [forbidden(child('metadata.annotations', MOUNT_OPTIONS), 'may not specify mount options for this volume type')]
}

function volumeErrors(volume: KubeObject, tolerant: boolean): FieldError[] {
  return volumeSpecErrors(object(volume, 'spec'), { name: volume.metadata.name ?? '', path: 'spec', inline: false, tolerant })
}

function internalAffinity(spec: Fields): Fields | null {
  const affinity = maybeObject(spec, 'nodeAffinity')
  return affinity === undefined ? null : { Required: internalValue('NodeSelector', field(affinity, 'required')) ?? null }
}

function validateUpdate(volume: KubeObject, old: KubeObject, { subresource }: RuleContext): FieldError[] {
  if (subresource === 'status') return []
  const spec = object(volume, 'spec')
  const before = object(old, 'spec')
  const selector = maybeObject(object(before, 'nodeAffinity'), 'required')
  const tolerant = selector !== undefined && nodeSelectorErrors('', selector, false).length > 0
  const errors = [...volumeErrors(volume, tolerant), ...mountOptionErrors(volume), ...volumeErrors(volume, tolerant)]
  if (!semanticEqual(sourcesOf(spec, before), sourcesOf(before)))
    errors.push(
      forbidden('spec.persistentvolumesource', `spec.persistentvolumesource is immutable after creation\n${sourceDiff(before, spec)}`),
    )
  errors.push(...immutableErrors('volumeMode', field(spec, 'volumeMode'), field(before, 'volumeMode')))
  if (field(before, 'nodeAffinity') !== undefined && !semanticEqual(spec.nodeAffinity, before.nodeAffinity))
    errors.push(invalid('nodeAffinity', internalAffinity(spec), 'field is immutable, except for updating from beta label to GA'))
  if (field(before, 'volumeAttributesClassName') !== undefined && field(spec, 'volumeAttributesClassName') === undefined)
    errors.push(forbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden'))
  return errors
}

const DEPRECATED_ANNOTATIONS = [
  [STORAGE_CLASS, 'deprecated since v1.8; use "storageClassName" attribute instead'],
  [MOUNT_OPTIONS, 'deprecated since v1.31; use "mountOptions" attribute instead'],
] as const
const DEPRECATED_SOURCES = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const

function warnings(volume: KubeObject): string[] {
  const spec = object(volume, 'spec')
  return [
    ...DEPRECATED_ANNOTATIONS.flatMap(([key, message]) =>
      annotation(volume, key) === undefined ? [] : [`${keyed('metadata.annotations', key)}: ${message}`],
    ),
    ...(string(spec, 'persistentVolumeReclaimPolicy') === 'Recycle'
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
        ]
      : []),
    ...DEPRECATED_SOURCES.flatMap(([key, name, message]) => (field(spec, key) === undefined ? [] : [`spec.${name}: ${message}`])),
  ]
}

function prepareForUpdate(volume: KubeObject, old: KubeObject, { subresource, now }: RuleContext): void {
  restore(volume, old, subresource === 'status' ? 'spec' : 'status')
  if (subresource !== 'status') return
  const status = ensureObject(volume, 'status')
  const before = object(old, 'status')
  const [time, oldTime] = [field(status, 'lastPhaseTransitionTime'), field(before, 'lastPhaseTransitionTime')]
  if (string(status, 'phase') === string(before, 'phase')) {
    if (time === undefined && oldTime !== undefined) status.lastPhaseTransitionTime = oldTime
  } else if (time === undefined || time === oldTime) status.lastPhaseTransitionTime = now
}

export const persistentVolumeRules: KindRules = {
  applyDefaults(volume) {
    const status = ensureObject(volume, 'status')
    defaultString(status, 'phase', 'Pending')
    const spec = ensureObject(volume, 'spec')
    defaultString(spec, 'persistentVolumeReclaimPolicy', 'Retain')
    defaultValue(spec, 'volumeMode', 'Filesystem')
    sourceDefaults(spec)
  },
  prepareForCreate(volume, { now }) {
    volume.status = { phase: 'Pending', lastPhaseTransitionTime: now }
  },
  prepareForUpdate,
  validateCreate: (volume) => [...volumeErrors(volume, false), ...mountOptionErrors(volume)],
  validateUpdate,
  warnings: (volume, _old, { subresource }) => (subresource === 'status' ? [] : warnings(volume)),
}
