/** Claims and ingresses without a class get the default one; volumes in use are protected; only classes that allow it can be expanded. */
import type { KubeObject } from '../../../kube/meta.ts'
import { compareQuantities } from '../../../kube/quantity.ts'
import { type Admission, type AdmissionContext, defineAdmission } from '../../admission.ts'
import { annotation, boolean, ensureObject, field, maybeString, object, string } from '../rules/fields.ts'
import { quantity } from '../rules/formats.ts'
import { forbidden } from './forbid.ts'

const CLAIMS = { group: '', resource: 'persistentvolumeclaims' }
const STORAGE_CLASSES = { group: 'storage.k8s.io', resource: 'storageclasses' }
const INGRESS_CLASSES = { group: 'networking.k8s.io', resource: 'ingressclasses' }
const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class'
const DEFAULT_STORAGE = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class']
const DEFAULT_INGRESS = ['ingressclass.kubernetes.io/is-default-class']

/** The newest of those marked as default; among equally new ones the first by name. */
function defaultOf({ read }: AdmissionContext, of: { group: string; resource: string }, marks: readonly string[]): KubeObject | undefined {
  const created = (one: KubeObject): string => one.metadata.creationTimestamp ?? ''
  return read
    .list(of)
    .filter((one) => marks.some((mark) => annotation(one, mark) === 'true'))
    .sort((a, b) =>
      created(a) === created(b) ? ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1) : created(a) > created(b) ? -1 : 1,
    )[0]
}

export const defaultStorageClass: Admission = defineAdmission({
  name: 'DefaultStorageClass',
  about: 'Gives a claim without a class the default StorageClass; of several defaults the newest.',
  resources: [CLAIMS],
  operations: ['CREATE'],
  mutate({ object: claim }, context) {
    if (claim === undefined || annotation(claim, BETA_CLASS) !== undefined) return
    const spec = ensureObject(claim, 'spec')
    if (maybeString(spec, 'storageClassName') !== undefined) return
    const name = defaultOf(context, STORAGE_CLASSES, DEFAULT_STORAGE)?.metadata.name
    if (name !== undefined) spec.storageClassName = name
  },
})

const PROTECTION: Readonly<Record<string, string>> = {
  PersistentVolume: 'kubernetes.io/pv-protection',
  PersistentVolumeClaim: 'kubernetes.io/pvc-protection',
  VolumeAttributesClass: 'kubernetes.io/vac-protection',
}

export const storageObjectInUseProtection: Admission = defineAdmission({
  name: 'StorageObjectInUseProtection',
  about: 'Adds the finalizers that keep volumes, claims and attribute classes while they are used.',
  resources: [CLAIMS, { group: '', resource: 'persistentvolumes' }, { group: 'storage.k8s.io', resource: 'volumeattributesclasses' }],
  operations: ['CREATE'],
  mutate({ object: subject, kind }) {
    const finalizer = Object.hasOwn(PROTECTION, kind) ? PROTECTION[kind] : undefined
    if (subject === undefined || finalizer === undefined) return
    const finalizers = subject.metadata.finalizers ?? []
    if (!finalizers.includes(finalizer)) subject.metadata.finalizers = [...finalizers, finalizer]
  },
})

const storageOf = (claim: KubeObject) => quantity(object(object(object(claim, 'spec'), 'resources'), 'requests'), 'storage')
export const classOfClaim = (claim: KubeObject): string =>
  annotation(claim, BETA_CLASS) ?? string(object(claim, 'spec'), 'storageClassName')

export const persistentVolumeClaimResize: Admission = defineAdmission({
  name: 'PersistentVolumeClaimResize',
  about: 'Lets a claim grow only when it is bound and its StorageClass allows expansion.',
  resources: [CLAIMS],
  operations: ['UPDATE'],
  validate(request, { read }) {
    const { object: claim, oldObject: old } = request
    if (claim === undefined || old === undefined || compareQuantities(storageOf(claim), storageOf(old)) <= 0) return undefined
    if (string(object(old, 'status'), 'phase') !== 'Bound') throw forbidden(request, 'Only bound persistent volume claims can be expanded')
    const name = classOfClaim(claim)
    const grows = name !== '' && name === classOfClaim(old) && boolean(read.get(STORAGE_CLASSES, '', name), 'allowVolumeExpansion')
    if (grows) return undefined
    throw forbidden(
      request,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
  },
})

export const defaultIngressClass: Admission = defineAdmission({
  name: 'DefaultIngressClass',
  about: 'Gives an Ingress without a class the default IngressClass.',
  resources: [{ group: 'networking.k8s.io', resource: 'ingresses' }],
  operations: ['CREATE'],
  mutate({ object: ingress }, context) {
    if (ingress === undefined || annotation(ingress, 'kubernetes.io/ingress.class') !== undefined) return
    const spec = ensureObject(ingress, 'spec')
    if (field(spec, 'ingressClassName') !== undefined) return
    const name = defaultOf(context, INGRESS_CLASSES, DEFAULT_INGRESS)?.metadata.name
    if (name !== undefined) spec.ingressClassName = name
  },
})
