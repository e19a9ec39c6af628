/**
 * Who owns the claims of a set, so that the garbage collector deletes them when the retention policy says so:
 * the set (whenDeleted: Delete), the pod that was scaled away (whenScaled: Delete), both in turn, or nobody. Owners that
 * others have put on a claim are respected: if another controls it, the policy does not apply.
 */
import type { PersistentVolumeClaim } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject, OwnerReference } from '../../../kube/meta.ts'
import { controllerReference } from '../pod/ownership.ts'
import { ordinalOf } from './identity.ts'
import { ordinalsOf } from './ordinals.ts'
import type { StatefulWorkload } from './workload.ts'

interface Policy {
  whenDeleted: boolean
  whenScaled: boolean
}

/** Whether claims are deleted in each of the two cases. */
function policyOf(set: StatefulWorkload): Policy {
  const { whenDeleted, whenScaled } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  const known = [whenDeleted ?? 'Retain', whenScaled ?? 'Retain'].every((word) => word === 'Delete' || word === 'Retain')
  // If the policy cannot be understood, the data is kept.
  return { whenDeleted: known && whenDeleted === 'Delete', whenScaled: known && whenScaled === 'Delete' }
}

const refersTo = (reference: OwnerReference, owner: KubeObject): boolean =>
  reference.apiVersion === owner.apiVersion && reference.kind === owner.kind && reference.name === owner.metadata.name

const isStale = (claim: PersistentVolumeClaim, owner: KubeObject): boolean =>
  (claim.metadata.ownerReferences ?? []).find((reference) => refersTo(reference, owner))?.uid !== owner.metadata.uid &&
  (claim.metadata.ownerReferences ?? []).some((reference) => refersTo(reference, owner))

/** A claim that is deleted with an earlier pod of this name: the new pod must not be created before it is gone. */
export function isClaimStale(claim: PersistentVolumeClaim, set: StatefulWorkload, podName: string): boolean {
  const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: podName } }
  return policyOf(set).whenScaled && isStale(claim, pod)
}

export interface Owners {
  ownerReferences: OwnerReference[]
  /** Another owner controls the claim. */
  isContested: boolean
}

/** The owners a claim must get; undefined when it has them, or is not ours to change. */
export function wantedOwners(claim: PersistentVolumeClaim, set: StatefulWorkload, pod: KubeObject): Owners | undefined {
  // References to an earlier set or pod of the same name: the garbage collector is about to decide.
  if (isStale(claim, set) || isStale(claim, pod)) return undefined
  const references = claim.metadata.ownerReferences ?? []
  const isOurs = ({ uid }: OwnerReference): boolean => uid === set.metadata.uid || uid === pod.metadata.uid
  const ours = references.filter(isOurs)
  const others = references.filter((reference) => !isOurs(reference))
  const policy = policyOf(set)
  const isContested = (policy.whenDeleted || policy.whenScaled) && others.some((reference) => reference.controller === true)
  if (isContested) return ours.length > 0 ? { ownerReferences: others, isContested } : undefined
  const isScaledAway = !ordinalsOf(set).has(ordinalOf(pod))
  const wanted = isScaledAway && policy.whenScaled ? [controllerReference(pod)] : policy.whenDeleted ? [controllerReference(set)] : []
  const holds = ours.length === wanted.length && ours.every(({ uid, controller }) => controller === true && uid === wanted[0]?.uid)
  return holds ? undefined : { ownerReferences: [...others, ...wanted], isContested }
}
