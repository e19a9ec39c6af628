/**
 * What must happen to one object because of who owns it and whom it owns. Pure; the collector gathers the facts. Rules
 * are those of Kubernetes' garbage collector: an object without a living owner goes; an owner deleted in the foreground
 * waits for the dependents that block it; an orphaning owner first sets its dependents free.
 */
import type { Resource } from '../../../client/resource.ts'
import type { KubeObject, OwnerReference } from '../../../kube/meta.ts'
import type { Action } from '../../../runtime/controller.ts'

export const FOREGROUND = 'foregroundDeletion'
export const ORPHAN = 'orphan'

/** An owner as the collector found it. */
export type OwnerState =
  /** Lives, and is not waiting for us. */
  | 'solid'
  /** Is being deleted in the foreground: waits for its dependents to go. */
  | 'waiting'
  /** Does not exist (or another object has its name now). */
  | 'absent'
  /** Its kind is not served, so nobody can tell: never a reason to delete. */
  | 'unknown'

export interface Dependent {
  resource: Resource
  object: KubeObject
}

export interface GarbageFacts {
  resource: Resource
  object: KubeObject
  owners: readonly { reference: OwnerReference; state: OwnerState }[]
  dependents: readonly Dependent[]
}

export function planGarbage(facts: GarbageFacts): Action[] {
  const { object } = facts
  const finalizers = object.metadata.finalizers ?? []
  if (object.metadata.deletionTimestamp !== undefined) {
    if (finalizers.includes(ORPHAN)) return orphanDependents(facts)
    if (finalizers.includes(FOREGROUND)) return releaseWhenAlone(facts)
    return []
  }
  return judgeByOwners(facts)
}

function judgeByOwners(facts: GarbageFacts): Action[] {
  const { resource, object, owners } = facts
  if (owners.length === 0) return []
  const alive = owners.filter((owner) => owner.state === 'solid' || owner.state === 'unknown')
  const gone = owners.filter((owner) => owner.state === 'absent' || owner.state === 'waiting')
  if (alive.length > 0) {
    if (gone.length === 0) return []
    return [withOwners(resource, object, alive.map((owner) => owner.reference))]
  }
  const finalizers = object.metadata.finalizers ?? []
  const isAwaited = owners.some((owner) => owner.state === 'waiting')
  if (isAwaited && facts.dependents.length > 0) {
    // Somebody waits for this one, so it must in turn wait for those it owns.
    return [{ do: 'delete', resource, of: object, propagation: 'Foreground' }]
  }
  const propagation = finalizers.includes(ORPHAN) ? 'Orphan' : finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background'
  return [{ do: 'delete', resource, of: object, propagation }]
}

function releaseWhenAlone(facts: GarbageFacts): Action[] {
  const { resource, object, dependents } = facts
  const isBlocked = dependents.some(({ object: dependent }) =>
    (dependent.metadata.ownerReferences ?? []).some((reference) => reference.uid === object.metadata.uid && reference.blockOwnerDeletion === true),
  )
  return isBlocked ? [] : [withoutFinalizer(resource, object, FOREGROUND)]
}

function orphanDependents(facts: GarbageFacts): Action[] {
  const { resource, object, dependents } = facts
  const freed = dependents.map((dependent) =>
    withOwners(
      dependent.resource,
      dependent.object,
      (dependent.object.metadata.ownerReferences ?? []).filter((reference) => reference.uid !== object.metadata.uid),
    ),
  )
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
