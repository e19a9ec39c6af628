/**
 * DELETE of one object and of collections: preconditions, grace, propagation and finalizers decide whether the object
 * is removed now, later, or when its finalizers are gone.
 */
import { formatTime } from '../../base/clock.ts'
import { deepEqual } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { conflictError, notFoundError, type Status, staleConflictError } from '../../kube/status.ts'
import { mutableCopy, type Stored } from '../objects.ts'
import type { DeleteOptions } from '../options.ts'
import { nowOf, type Scope, warn } from '../scope.ts'
import { validatingAdmission } from './admit.ts'
import { kindOfErrors } from './create.ts'

const ORPHAN = 'orphan'
const FOREGROUND = 'foregroundDeletion'
const MAX_TRIES = 10

export type Deleted = { object: KubeObject; status?: undefined } | { status: Status; object: KubeObject }

export function deleteObject(scope: Scope, name: string, options: DeleteOptions): Promise<Deleted> {
  const { served, server, info } = scope
  warnAboutDefaultOrphans(scope, options)
  return server.objects.exclusively(served, info.namespace, name, async () => {
    for (let attempt = 1; ; attempt++) {
      const stored = server.objects.get(served, info.namespace, name)
      if (stored === undefined) throw notFoundError(served.groupResource, name)
      const deleted = await deleteOnce(scope, stored, options)
      if (deleted !== undefined) return deleted
      if (attempt >= MAX_TRIES) throw staleConflictError(served.groupResource, name)
    }
  })
}

async function deleteOnce(scope: Scope, stored: Stored, options: DeleteOptions): Promise<Deleted | undefined> {
  const { served, server } = scope
  const old = stored.object
  const name = old.metadata.name ?? ''
  checkPreconditions(scope, old, options)
  await validatingAdmission(scope, { operation: 'DELETE', oldObject: old, name, dryRun: options.dryRun, options: { ...options } })

  const next = mutableCopy(old)
  const step = planDeletion(scope, next, options)
  if (step === 'pending') return answer(scope, old, false)
  let version = stored.version
  let current = next
  if (!deepEqual(next, old) && !options.dryRun && (step !== 'remove-now' || !isUntouched(next, old))) {
    const result = await server.objects.put(served, next, version)
    if (!result.ok) return undefined
    version = result.version
    current = result.version.object() as KubeObject
  }
  if (step === 'wait') return { object: current }
  if (!options.dryRun) {
    const result = await server.objects.remove(served, current, version)
    if (!result.ok) return undefined
    // The answer shows the object at the revision of its deletion.
    current = result.version.object() as KubeObject
  }
  return answer(scope, current, true)
}

type Step = 'wait' | 'remove' | 'remove-now' | 'pending'

/** Changes `object` into what must be stored first; returns what to do next. */
function planDeletion(scope: Scope, object: KubeObject, options: DeleteOptions): Step {
  const { rules } = scope.served.definition
  if (rules.markDeleting !== undefined) {
    if (object.metadata.deletionTimestamp === undefined) return markOnly(scope, object, options)
    if (rules.holdsDeletion?.(object) ?? false) return 'pending'
  }
  const graceful = planGrace(scope, object, options)
  if (graceful === 'pending') return 'pending'
  propagate(scope, object, options)
  const isHeld = (object.metadata.finalizers ?? []).length > 0
  if (graceful === undefined) {
    if (!isHeld) return 'remove-now'
    markDeleting(scope, object)
    return 'wait'
  }
  return isHeld || graceful > 0 ? 'wait' : 'remove'
}

/** Kinds with their own deletion process are only marked by the first request; they may add what holds them until a second one. */
function markOnly(scope: Scope, object: KubeObject, options: DeleteOptions): Step {
  const { rules } = scope.served.definition
  const now = nowOf(scope)
  object.metadata.deletionTimestamp = now
  rules.markDeleting?.(object, now)
  if (!rules.endsByOwnFinalizer) propagate(scope, object, options)
  return 'wait'
}

function propagate(scope: Scope, object: KubeObject, options: DeleteOptions): void {
  const finalizers = finalizersForPropagation(scope, object, options)
  if (!deepEqual(finalizers, object.metadata.finalizers ?? [])) object.metadata.finalizers = finalizers
}

/** undefined: the kind has no grace period. A number: the grace period that now applies. 'pending': nothing changes. */
function planGrace(scope: Scope, object: KubeObject, options: DeleteOptions): number | 'pending' | undefined {
  const { rules } = scope.served.definition
  if (rules.graceOnDelete === undefined) return undefined
  const requested = options.gracePeriodSeconds !== undefined && options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds
  const meta = object.metadata
  if (meta.deletionTimestamp !== undefined) {
    const left = meta.deletionGracePeriodSeconds
    // An object whose grace period is over, or that never had one, is not waited for again.
    if (left === undefined || left === 0) return undefined
    if (requested === undefined || requested >= left) return 'pending'
    const end = Date.parse(meta.deletionTimestamp) + (requested - left) * 1000
    const isPast = end < scope.server.clock.now()
    // A shorter grace period that is already over still leaves one second for graceful termination.
    const grace = isPast && requested !== 0 ? 1 : requested
    meta.deletionTimestamp = isPast ? nowOf(scope) : formatTime(end)
    meta.deletionGracePeriodSeconds = grace
    return grace
  }
  const grace = rules.graceOnDelete(object, requested)
  meta.deletionTimestamp = formatTime(scope.server.clock.now() + grace * 1000)
  meta.deletionGracePeriodSeconds = grace
  if ((meta.generation ?? 0) > 0) meta.generation = (meta.generation ?? 0) + 1
  return grace
}

function markDeleting(scope: Scope, object: KubeObject): void {
  const meta = object.metadata
  if (meta.deletionTimestamp === undefined) {
    if ((meta.generation ?? 0) > 0) meta.generation = (meta.generation ?? 0) + 1
    meta.deletionTimestamp = nowOf(scope)
  }
  meta.deletionGracePeriodSeconds = 0
}

function finalizersForPropagation(scope: Scope, object: KubeObject, options: DeleteOptions): string[] {
  const existing = object.metadata.finalizers ?? []
  const isCollected = scope.served.definition.rules.defaultPropagation !== 'none'
  const wantsOrphan = isCollected && shouldOrphan(scope, existing, options)
  const wantsForeground = isCollected && wantsToWait(existing, options)
  const kept = existing.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND)
  if (wantsOrphan === existing.includes(ORPHAN) && wantsForeground === existing.includes(FOREGROUND)) return existing
  return [...kept, ...(wantsOrphan ? [ORPHAN] : []), ...(wantsForeground ? [FOREGROUND] : [])]
}

const wantsToWait = (existing: readonly string[], options: DeleteOptions): boolean =>
  options.propagationPolicy === 'Foreground' ||
  (options.propagationPolicy === '' && options.orphanDependents === undefined && existing.includes(FOREGROUND))

function shouldOrphan(scope: Scope, existing: readonly string[], options: DeleteOptions): boolean {
  if (options.orphanDependents !== undefined) return options.orphanDependents
  if (options.propagationPolicy !== '') return options.propagationPolicy === 'Orphan'
  if (existing.includes(ORPHAN)) return true
  if (existing.includes(FOREGROUND)) return false
  return scope.served.definition.rules.defaultPropagation === 'orphan'
}

const isUntouched = (next: KubeObject, old: KubeObject): boolean => deepEqual(next.metadata.finalizers ?? [], old.metadata.finalizers ?? [])

export function checkPreconditions(scope: Scope, old: KubeObject, options: Pick<DeleteOptions, 'preconditions'>): void {
  const { uid, resourceVersion } = options.preconditions
  if (scope.served.definition.rules.markDeleting !== undefined) {
    checkOwnPreconditions(scope, old, options)
    return
  }
  const { group, kind } = kindOfErrors(scope.served)
  const subject = { group, resource: kind }
  const name = old.metadata.name ?? ''
  if (uid !== undefined && uid !== old.metadata.uid)
    throw conflictError(
      subject,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${old.metadata.uid}). The object might have been deleted and then recreated`,
    )
  if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion)
    throw conflictError(
      subject,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${old.metadata.resourceVersion}). The object might have been modified`,
    )
}

/** Kinds with their own deletion process check preconditions first, and word the error differently. */
function checkOwnPreconditions(scope: Scope, old: KubeObject, options: Pick<DeleteOptions, 'preconditions'>): void {
  const refuse = (what: string, wanted: string, found: string | undefined): never => {
    const detail = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`
    throw conflictError(scope.served.groupResource, old.metadata.name ?? '', detail)
  }
  const { uid, resourceVersion } = options.preconditions
  if (uid !== undefined && uid !== old.metadata.uid) refuse('UID', uid, old.metadata.uid)
  if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion)
    refuse('ResourceVersion', resourceVersion, old.metadata.resourceVersion)
}

function answer(scope: Scope, object: KubeObject, isGone: boolean): Deleted {
  const { definition, groupResource } = scope.served
  if (!isGone || definition.rules.returnsDeletedObject) return { object }
  const details = {
    name: object.metadata.name,
    ...(groupResource.group === '' ? {} : { group: groupResource.group }),
    kind: groupResource.resource,
    uid: object.metadata.uid,
  }
  return { object, status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } }
}

export function warnAboutDefaultOrphans(scope: Scope, options: DeleteOptions): void {
  const { orphansByDefaultWarning } = scope.served.definition.rules
  if (orphansByDefaultWarning === undefined || options.propagationPolicy !== '' || options.orphanDependents !== undefined) return
  warn(scope, orphansByDefaultWarning)
}
