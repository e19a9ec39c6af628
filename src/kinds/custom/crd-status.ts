/**
 * The life cycle of a CustomResourceDefinition after it was written, as pure steps: its names are accepted or refused against
 * those of its group, it is established, and on deletion it waits for its instances under a finalizer. The server calls
 * these and writes what they return; `undefined` means that there is nothing to write.
 */
import { deepClone, deepEqual } from '../../base/json.ts'
import { type Condition, findCondition, setCondition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { KindDefinition } from '../kind.ts'
import { asCrd, CRD_GROUP, type Crd, type CrdNames, crdCondition } from './crd.ts'
import { approvalOf, isProtectedGroup } from './crd-approval.ts'

const CRD_CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

/**
 * The definition with the status it should have now: names, establishment, approval. `others` are all definitions (of any
 * group, this one included or not). Call it again for the rest of the group after a write: names may have become free.
 */
export function settleCrd(crd: KubeObject, others: readonly KubeObject[], now: string): KubeObject | undefined {
  const next = deepClone(asCrd(crd))
  acceptNames(next, others.map(asCrd), now)
  if (crdCondition(next, 'NamesAccepted') && (!crdCondition(next, 'Established') || wasOwn(next)))
    set(next, now, ['Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted'])
  if (isProtectedGroup(next.spec.group)) setApproval(next, now)
  return deepEqual(next, crd) ? undefined : next
}

/** Reason of conditions of a definition that has no effect, because the server serves the kind by a definition of its own. */
const OWN_REASON = 'ServedByServer'

/**
 * The same for a definition of a kind that the server has of its own: it counts as established, under the names that are
 * served, whatever it asks for.
 */
export function settleOwnCrd(crd: KubeObject, own: KindDefinition, now: string): KubeObject | undefined {
  const next = deepClone(asCrd(crd))
  next.status = { ...next.status, acceptedNames: namesOf(own) }
  set(next, now, ['NamesAccepted', 'True', 'NoConflicts', 'no conflicts found'])
  set(next, now, ['Established', 'True', OWN_REASON, 'Sluice serves this kind itself; this definition is stored but has no effect'])
  if (isProtectedGroup(next.spec.group)) setApproval(next, now)
  return deepEqual(next, crd) ? undefined : next
}

/** Left over from a server that had this kind of its own: another build, or one that was not bare. */
const wasOwn = (crd: Crd): boolean => findCondition(crd.status?.conditions ?? undefined, 'Established')?.reason === OWN_REASON

const namesOf = ({ plural, singular, shortNames, kind, listKind, categories }: KindDefinition): CrdNames => ({
  plural,
  singular,
  ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
  kind,
  listKind,
  ...(categories.length > 0 ? { categories: [...categories] } : {}),
})

/** What `settleCrd` must know of a kind of the server's own, among `others`. */
export const ownNames = (own: KindDefinition): KubeObject => ({
  apiVersion: `${CRD_GROUP}/v1`,
  kind: 'CustomResourceDefinition',
  metadata: { name: `${own.plural}.${own.group}` },
  spec: { group: own.group },
  status: { acceptedNames: namesOf(own) },
})

type Said = readonly [type: string, status: 'True' | 'False', reason: string, message: string]

function set(crd: Crd, now: string, [type, status, reason, message]: Said): void {
  const conditions = setCondition(crd.status?.conditions ?? undefined, { type, status, reason, message }, now)
  crd.status = { ...crd.status, conditions: conditions.map(inWireOrder) }
}

const inWireOrder = ({ type, status, lastTransitionTime, reason, message, ...rest }: Condition): Condition => ({
  type,
  status,
  lastTransitionTime,
  reason,
  message,
  ...rest,
})

const sameNames = (a: CrdNames, b: CrdNames | undefined): boolean =>
  deepEqual(
    { ...a, shortNames: a.shortNames ?? [], categories: a.categories ?? [] },
    { ...b, shortNames: b?.shortNames ?? [], categories: b?.categories ?? [] },
  )

function acceptNames(crd: Crd, others: readonly Crd[], now: string): void {
  const wanted = crd.spec.names
  const accepted: CrdNames = crd.status?.acceptedNames ?? { plural: '', kind: '' }
  if (sameNames(wanted, accepted)) return
  const { names, conflict } = claim(wanted, accepted, usedNames(crd, others))
  crd.status = { ...crd.status, acceptedNames: names }
  if (conflict !== undefined) set(crd, now, ['NamesAccepted', 'False', conflict.reason, conflict.message])
  else set(crd, now, ['NamesAccepted', 'True', 'NoConflicts', 'no conflicts found'])
  if (findCondition(crd.status?.conditions ?? undefined, 'Established') === undefined && conflict !== undefined)
    set(crd, now, ['Established', 'False', 'NotAccepted', 'not all names are accepted'])
}

interface Used {
  resources: ReadonlySet<string>
  kinds: ReadonlySet<string>
}

/** Names taken in the group, including those of this definition, which it may keep. */
function usedNames(crd: Crd, others: readonly Crd[]): Used {
  const taken = [...others.filter((o) => o.metadata.name !== crd.metadata.name && o.spec.group === crd.spec.group), crd].map(
    (o) => o.status?.acceptedNames,
  )
  return {
    resources: new Set(taken.flatMap((n) => [n?.plural ?? '', n?.singular ?? '', ...(n?.shortNames ?? [])])),
    kinds: new Set(taken.flatMap((n) => [n?.kind ?? '', n?.listKind ?? ''])),
  }
}

function claim(
  wanted: CrdNames,
  accepted: CrdNames,
  used: Used,
): { names: CrdNames; conflict: { reason: string; message: string } | undefined } {
  const names: CrdNames = { ...accepted }
  let conflict: { reason: string; message: string } | undefined
  const isFree = (name: string, own: string, taken: ReadonlySet<string>) => name === own || !taken.has(name)
  const inUse = (name: string) => `${JSON.stringify(name)} is already in use`
  const claimOne = (key: 'plural' | 'singular' | 'kind' | 'listKind', reason: string, taken: ReadonlySet<string>) => {
    const name = wanted[key] ?? ''
    if (isFree(name, accepted[key] ?? '', taken)) names[key] = name
    else conflict = { reason, message: inUse(name) }
  }
  claimOne('plural', 'PluralConflict', used.resources)
  claimOne('singular', 'SingularConflict', used.resources)
  const taken = (wanted.shortNames ?? []).filter((n) => !accepted.shortNames?.includes(n) && used.resources.has(n)).map(inUse)
  if (taken.length > 0)
    conflict = { reason: 'ShortNamesConflict', message: taken.length === 1 ? (taken[0] ?? '') : `[${taken.join(', ')}]` }
  else if (wanted.shortNames !== undefined) names.shortNames = wanted.shortNames
  else delete names.shortNames
  claimOne('kind', 'KindConflict', used.kinds)
  claimOne('listKind', 'ListKindConflict', used.kinds)
  if (wanted.categories !== undefined) names.categories = wanted.categories
  else delete names.categories
  return { names, conflict }
}

const APPROVAL_REASONS = {
  invalid: ['False', 'InvalidAnnotation'],
  missing: ['False', 'MissingAnnotation'],
  approved: ['True', 'ApprovedAnnotation'],
  bypassed: ['False', 'UnapprovedAnnotation'],
} as const

function setApproval(crd: Crd, now: string): void {
  const { state, reason } = approvalOf(crd)
  const [status, why] = APPROVAL_REASONS[state]
  const type = 'KubernetesAPIApprovalPolicyConformant'
  const old = findCondition(crd.status?.conditions ?? undefined, type)
  if (old?.status === status && old.reason === why && old.message === reason) return
  set(crd, now, [type, status, why, reason])
}

/** On the first delete request: the definition stays until its instances are gone. Changes the object given. */
export function markCrdDeleting(object: KubeObject, now: string): void {
  const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon'
  markTerminating(object, now, ['Terminating', 'True', 'InstanceDeletionPending', message])
}

const NO_OBJECTS_DELETED = 'Sluice serves this kind itself; no objects are deleted'

/** The same for a definition of a kind that the server has of its own: its end does not concern the objects. */
export function markOwnCrdDeleting(object: KubeObject, now: string): void {
  markTerminating(object, now, ['Terminating', 'True', OWN_REASON, NO_OBJECTS_DELETED])
}

function markTerminating(object: KubeObject, now: string, said: Said): void {
  const crd = asCrd(object)
  crd.metadata.deletionTimestamp ??= now
  if (!crd.metadata.finalizers?.includes(CRD_CLEANUP_FINALIZER))
    crd.metadata.finalizers = [...(crd.metadata.finalizers ?? []), CRD_CLEANUP_FINALIZER]
  set(crd, now, said)
}

/** The progress of deleting the instances of a definition that is being deleted. */
export type CleanupProgress =
  /** Their deletion begins now. */
  | { step: 'started' }
  /** None is left. */
  | { step: 'finished' }
  /** The objects are not its instances: the server serves the kind by a definition of its own. */
  | { step: 'kept' }
  | { step: 'failed'; message: string }

/** Whether a definition waits for its instances to be deleted. */
export const needsCleanup = (crd: KubeObject): boolean =>
  crd.metadata.deletionTimestamp !== undefined && crd.metadata.finalizers?.includes(CRD_CLEANUP_FINALIZER) === true

/** Whether there can be instances to delete; if not, the cleanup is finished at once. */
export function hasInstances(crd: KubeObject): boolean {
  const it = asCrd(crd)
  return crdCondition(it, 'Established') && !overlapsBuiltIn(it)
}

const overlapsBuiltIn = ({ spec }: Crd): boolean =>
  (spec.group === 'apiregistration.k8s.io' && spec.names.plural === 'apiservices') ||
  (spec.group === CRD_GROUP && spec.names.plural === 'customresourcedefinitions')

/** The definition with the condition for that step; when finished or kept, without the finalizer, so that it is removed. */
export function cleanupCrd(crd: KubeObject, progress: CleanupProgress, now: string): KubeObject {
  const next = deepClone(asCrd(crd))
  if (progress.step === 'started')
    set(next, now, ['Terminating', 'True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'])
  else if (progress.step === 'failed') set(next, now, ['Terminating', 'True', 'InstanceDeletionFailed', progress.message])
  else {
    if (progress.step === 'kept') set(next, now, ['Terminating', 'False', OWN_REASON, NO_OBJECTS_DELETED])
    else if (overlapsBuiltIn(next))
      set(next, now, ['Terminating', 'False', 'OverlappingBuiltInResource', 'instances overlap with built-in resources in storage'])
    else if (crdCondition(next, 'Established'))
      set(next, now, ['Terminating', 'False', 'InstanceDeletionCompleted', 'removed all instances'])
    else set(next, now, ['Terminating', 'False', 'NeverEstablished', 'resource was never established'])
    next.metadata.finalizers = (next.metadata.finalizers ?? []).filter((f) => f !== CRD_CLEANUP_FINALIZER)
  }
  return next
}
