/**
 * What must happen to one object because of its owners and dependents. Pure; the collector gathers the facts. The rules
 * are those of Kubernetes' garbage collector: an object without a living owner is deleted; an owner deleted in the
 * foreground waits for the dependents that block it; an orphaning owner first releases its dependents.
 */
import type { Located } from '../../../client/cache/cluster-cache.ts'
import type { KubeObject, OwnerReference } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { Action } from '../../../runtime/controller.ts'

const FOREGROUND = 'foregroundDeletion'
const ORPHAN = 'orphan'

/** An owner as the collector found it. */
export type OwnerState =
  /** Exists, and is not waiting for its dependents. */
  | 'solid'
  /** Is being deleted in the foreground: waits for its dependents to be gone. */
  | 'waiting'
  /** Does not exist (or another object has its name now). */
  | 'absent'
  /** Its kind is not served, so its state is unknown: never a reason to do anything. */
  | 'unknown'

export interface GarbageInput {
  resource: Resource
  object: KubeObject
  owners: readonly { reference: OwnerReference; state: OwnerState }[]
  dependents: Iterable<Located>
}

export function isWaitingForDependents(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).includes(FOREGROUND)
}

/** Most objects have neither owners nor dependents: there is nothing to decide about them. */
export function isRelevantToGarbage(object: KubeObject): boolean {
  if ((object.metadata.ownerReferences ?? []).length > 0) return true
  return (
    object.metadata.deletionTimestamp !== undefined &&
    (object.metadata.finalizers ?? []).some((name) => name === FOREGROUND || name === ORPHAN)
  )
}

export function planGarbage(input: GarbageInput): Action[] {
  const { object } = input
  if (object.metadata.deletionTimestamp === undefined) return judgeByOwners(input)
  if ((object.metadata.finalizers ?? []).includes(ORPHAN)) return orphanDependents(input)
  return isWaitingForDependents(object) ? releaseWhenAlone(input) : []
}

function judgeByOwners(input: GarbageInput): Action[] {
  const { resource, object, owners } = input
  if (owners.length === 0 || owners.some((owner) => owner.state === 'unknown')) return []
  const solid = owners.filter((owner) => owner.state === 'solid')
  if (solid.length === owners.length) return []
  if (solid.length > 0)
    return [
      withOwners(
        resource,
        object,
        solid.map((owner) => owner.reference),
      ),
    ]
  const isAwaited = owners.some((owner) => owner.state === 'waiting')
  const dependents = isAwaited ? [...input.dependents] : []
  if (dependents.length > 0) {
    // An owner waits for this object, so it must in turn wait for its own dependents. If one of those is waiting already, the
    // owners may form a cycle: it is broken here, or all of them would wait for each other forever.
    const isCircle = dependents.some((dependent) => isWaitingForDependents(dependent.object))
    return [...(isCircle ? unblockOwners(resource, object) : []), { do: 'delete', resource, of: object, propagation: 'Foreground' }]
  }
  return [{ do: 'delete', resource, of: object, propagation: propagationOf(object) }]
}

/** The propagation policy requested by a finalizer that is already on the object. */
function propagationOf(object: KubeObject): 'Orphan' | 'Foreground' | 'Background' {
  const finalizers = object.metadata.finalizers ?? []
  if (finalizers.includes(ORPHAN)) return 'Orphan'
  return finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background'
}

function unblockOwners(resource: Resource, object: KubeObject): Action[] {
  const references = object.metadata.ownerReferences ?? []
  if (!references.some((reference) => reference.blockOwnerDeletion === true)) return []
  return [
    withOwners(
      resource,
      object,
      references.map((reference) => ({ ...reference, blockOwnerDeletion: false })),
    ),
  ]
}

function releaseWhenAlone({ resource, object, dependents }: GarbageInput): Action[] {
  for (const dependent of dependents) {
    const references = dependent.object.metadata.ownerReferences ?? []
    if (references.some((reference) => reference.uid === object.metadata.uid && reference.blockOwnerDeletion === true)) return []
  }
  return [withoutFinalizer(resource, object, FOREGROUND)]
}

function orphanDependents({ resource, object, dependents }: GarbageInput): Action[] {
  const freed = [...dependents].map((dependent) => {
    const others = (dependent.object.metadata.ownerReferences ?? []).filter((reference) => reference.uid !== object.metadata.uid)
    return withOwners(dependent.resource, dependent.object, others)
  })
  return [...freed, withoutFinalizer(resource, object, ORPHAN)]
}

const withOwners = (resource: Resource, of: KubeObject, ownerReferences: readonly OwnerReference[]): Action => ({
  do: 'patch',
  resource,
  of,
  patch: { metadata: { ownerReferences: ownerReferences.length === 0 ? null : ownerReferences } },
})

function withoutFinalizer(resource: Resource, of: KubeObject, finalizer: string): Action {
  const left = (of.metadata.finalizers ?? []).filter((name) => name !== finalizer)
  return { do: 'patch', resource, of, patch: { metadata: { finalizers: left.length === 0 ? null : left } } }
}
