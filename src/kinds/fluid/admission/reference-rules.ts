/**
 * What admission knows about references: a new one to a dataset that is being deleted, or that itself refers to another, is
 * refused, and so is a runtime with a cache for a dataset that refers to another one. Whether consent is there is not judged, so
 * that grants may come later; but without it nothing is said about the original, not even that it exists.
 */
import { deepEqual } from '../../../base/json.ts'
import { type FieldError, forbidden } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { AdmissionReader, AdmissionRequest } from '../../admission.ts'
import { ReferenceGrant } from '../../gateway/reference-grant.ts'
import { isBeingDeleted } from '../../karmada/admission/metadata.ts'
import { quoted } from '../../volcano/annotations.ts'
import { type Dataset, runtimeKinds, ThinRuntime } from '../index.ts'
import { isReference, ONLY_THIN, type Original, type Referred, referenceOf } from '../reference.ts'
import { DATASETS } from '../resources.ts'

/** Whether datasets of a namespace may refer to a dataset, by the grants of the other namespace. */
export type MayRefer = (from: string, to: Original, grants: readonly ReferenceGrant[]) => boolean

/** Also for runtimes. */
export const REFERENCE_READS = [DATASETS, ReferenceGrant.resource, ...runtimeKinds.map(({ resource }) => resource)]

interface Judge {
  read: AdmissionReader
  mayRefer: MayRefer
}

/** Only what a write brings in: an original may go after its references came. */
export function introducedReferenceErrors({ object, oldObject }: AdmissionRequest, judge: Judge): FieldError[] {
  if (object === undefined || isBeingDeleted(object)) return []
  const [next, before] = [referenceOf(object as Dataset), oldObject === undefined ? undefined : referenceOf(oldObject as Dataset)]
  if (next === undefined || deepEqual(next, before)) return []
  const { namespace = '', name = '' } = object.metadata
  return [...originalErrors({ namespace, name }, next, judge), ...cachingRuntimeErrors({ namespace, name }, judge.read)]
}

const MOUNT_POINT = 'spec.mounts[0].mountPoint'

function originalErrors(of: Original, to: Referred, { read, mayRefer }: Judge): FieldError[] {
  if (of.namespace === to.namespace && of.name === to.name)
    return [forbidden(MOUNT_POINT, 'a dataset cannot refer to itself: mount the sources, or another dataset')]
  if (to.namespace !== of.namespace && !mayRefer(of.namespace, to, grantsIn(to.namespace, read))) return []
  const original = read.get({ group: DATASETS.group, resource: DATASETS.plural }, to.namespace, to.name)
  if (original === undefined) return []
  const shown = `Dataset ${to.namespace}/${to.name}`
  if (isBeingDeleted(original))
    return [
      forbidden(MOUNT_POINT, `${shown} is being deleted, and takes no new references: mount another one, or wait and create it again`),
    ]
  return isReference(original as Dataset)
    ? [
        forbidden(
          MOUNT_POINT,
          `${shown} itself refers to another dataset, and references do not chain: mount the dataset that it refers to`,
        ),
      ]
    : []
}

const grantsIn = (namespace: string, read: AdmissionReader): readonly ReferenceGrant[] =>
  read.list({ group: ReferenceGrant.group, resource: ReferenceGrant.plural }, namespace) as readonly ReferenceGrant[]

function cachingRuntimeErrors({ namespace, name }: Original, read: AdmissionReader): FieldError[] {
  const other = runtimeKinds.find(({ group, plural }) => {
    const runtime = read.get({ group, resource: plural }, namespace, name)
    return runtime !== undefined && !isBeingDeleted(runtime) && hasOwnCache(runtime)
  })
  if (other === undefined) return []
  return [forbidden(MOUNT_POINT, `${ONLY_THIN}: delete ${other.kind} ${quoted(name)} first, or choose another name for this dataset`)]
}

/** A ThinRuntime without a profile is what makes its dataset refer to another one; every other runtime serves data itself. */
export const hasOwnCache = ({ kind, spec }: KubeObject): boolean =>
  kind !== ThinRuntime.kind || ((spec as ThinRuntime['spec'])?.profileName ?? '') !== ''

/** Of a runtime that is about to exist, or to get a profile. */
export function servesReferenceErrors({ object, oldObject }: AdmissionRequest, read: AdmissionReader): FieldError[] {
  if (object === undefined || isBeingDeleted(object) || !hasOwnCache(object)) return []
  if (oldObject !== undefined && hasOwnCache(oldObject)) return []
  const { namespace = '', name = '' } = object.metadata
  const dataset = read.get({ group: DATASETS.group, resource: DATASETS.plural }, namespace, name)
  if (dataset === undefined || isBeingDeleted(dataset) || !isReference(dataset as Dataset)) return []
  const field = object.kind === ThinRuntime.kind ? 'spec.profileName' : 'metadata.name'
  return [forbidden(field, `${ONLY_THIN}, and Dataset ${quoted(name)} does: choose another name, or leave the runtime out`)]
}
