/**
 * Who controls an object, and how that changes: a controller adopts orphans its selector matches and releases what it no
 * longer matches, never touches what another controls, and changes nothing while its owner is being deleted.
 */
import type { Client } from '../../../client/client.ts'
import type { KubeObject, OwnerReference } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type LabelSelector, matchesLabels } from '../../../kube/selector.ts'
import type { Action, Batch } from '../../controller.ts'
import { liveOwner } from '../../live-owner.ts'

/** Called for every pod in every pass: a plain loop. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  const references = object.metadata.ownerReferences
  if (references !== undefined) for (const reference of references) if (reference.controller === true) return reference
  return undefined
}

export function controllerReference(owner: KubeObject): OwnerReference {
  const { name = '', uid = '' } = owner.metadata
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true }
}

export interface ClaimInput<T extends KubeObject> {
  owner: KubeObject
  /** Undefined selects nothing. */
  selector: LabelSelector | undefined
  /** What the owner controls already and the orphans of its namespace; others are ignored. */
  candidates: readonly T[]
  /** In addition to the selector: names of a StatefulSet's pods, for example. */
  also?(object: T): boolean
  /** False when the owner, read from the server, turned out to be gone or terminating (`mayAdopt`). */
  mayAdopt?: boolean
}

export interface Claim<T extends KubeObject> {
  /** Controlled by the owner and matched, including those to adopt. */
  claimed: T[]
  adopt: T[]
  release: T[]
}

export function claimObjects<T extends KubeObject>(input: ClaimInput<T>): Claim<T> {
  const { owner, candidates, mayAdopt = true } = input
  const claim: Claim<T> = { claimed: [], adopt: [], release: [] }
  const { uid, deletionTimestamp } = owner.metadata
  for (const object of candidates) {
    const controller = controllerOf(object)
    if (controller === undefined) {
      if (!mayAdopt || !isAdoptable(input, object)) continue
      claim.claimed.push(object)
      claim.adopt.push(object)
    } else if (controller.uid === uid) {
      if (isMatched(input, object)) claim.claimed.push(object)
      else if (deletionTimestamp === undefined) claim.release.push(object)
    }
  }
  return claim
}

function isMatched<T extends KubeObject>({ selector, also }: ClaimInput<T>, object: T): boolean {
  return selector !== undefined && matchesLabels(selector, object.metadata.labels) && (also === undefined || also(object))
}

/** A matching orphan in the owner's namespace; neither of the two is being deleted. */
function isAdoptable<T extends KubeObject>(input: ClaimInput<T>, object: T): boolean {
  const { namespace, deletionTimestamp } = input.owner.metadata
  const isFree = object.metadata.deletionTimestamp === undefined && object.metadata.namespace === namespace
  return deletionTimestamp === undefined && isFree && isMatched(input, object)
}

/** Whether `claimObjects` would adopt something: then ask `mayAdopt` first. */
export const wouldAdopt = <T extends KubeObject>(input: ClaimInput<T>): boolean =>
  input.candidates.some((object) => controllerOf(object) === undefined && isAdoptable(input, object))

/**
 * Asks the server itself whether the owner is still this one and not being deleted: with a stale cache it would re-adopt
 * what the deletion of the owner has just orphaned.
 */
export async function mayAdopt(client: Client, resource: Resource, owner: KubeObject): Promise<boolean> {
  const live = await liveOwner(client, resource, owner)
  return live !== undefined && live.metadata.deletionTimestamp === undefined
}

export interface ClaimActions<T extends KubeObject> {
  resource: Resource
  owner: KubeObject
  claim: Pick<Claim<T>, 'adopt' | 'release'>
  /** Added to what is adopted, removed from what is released. */
  finalizer?: string
}

/** The patches of a claim, each based on the object as it was seen; nothing when there is nothing to change. */
export function claimActions<T extends KubeObject>({ resource, owner, claim, finalizer }: ClaimActions<T>): Batch[] {
  const reference = controllerReference(owner)
  const patchOf = (object: T, ownerReferences: OwnerReference[], finalizers: string[]): Action => {
    const held = object.metadata.finalizers ?? []
    const changed = finalizers.length !== held.length ? { finalizers } : {}
    return { do: 'patch', resource, of: object, patch: { metadata: { ownerReferences, ...changed } } }
  }
  const adopted = claim.adopt.map((object) => {
    const held = object.metadata.finalizers ?? []
    const others = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== reference.uid)
    return patchOf(object, [...others, reference], finalizer === undefined || held.includes(finalizer) ? held : [...held, finalizer])
  })
  const released = claim.release.map((object) => {
    const others = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== reference.uid)
    const finalizers = (object.metadata.finalizers ?? []).filter((one) => one !== finalizer)
    return patchOf(object, others, finalizers)
  })
  const actions = [...adopted, ...released]
  return actions.length === 0 ? [] : [{ do: 'batch', actions }]
}
