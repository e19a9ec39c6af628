/**
 * DELETE of one object and of collections: preconditions, grace, propagation and finalizers decide whether the object
 * goes now, later, or waits for somebody.
 */
import { formatTime } from '../../base/clock.ts'
import { deepEqual } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { conflictError, notFoundError, staleConflictError, type Status } from '../../kube/status.ts'
import { mutableCopy, type Stored } from '../objects.ts'
import type { DeleteOptions } from '../options.ts'
import { nowOf, type Scope, warn } from '../scope.ts'
import { validatingAdmission } from './admit.ts'

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
  }
  return answer(scope, current, true)
}

type Step = 'wait' | 'remove' | 'remove-now' | 'pending'

/** Changes `object` into what must be stored first; says what follows. */
function planDeletion(scope: Scope, object: KubeObject, options: DeleteOptions): Step {
  const { rules } = scope.served.definition
  const graceful = planGrace(scope, object, options)
  if (graceful === 'pending') return 'pending'
  // Kinds that mark themselves may add what holds them (a definition's cleanup of its instances).
  if (graceful === undefined && rules.markDeleting !== undefined) markDeleting(scope, object)
  const finalizers = finalizersForPropagation(scope, object, options)
  if (!deepEqual(finalizers, object.metadata.finalizers ?? [])) object.metadata.finalizers = finalizers
  const isHeld = finalizers.length > 0 || (rules.holdsDeletion?.(object) ?? false)
  if (graceful === undefined) {
    if (!isHeld) return 'remove-now'
    if (rules.markDeleting === undefined) markDeleting(scope, object)
    return 'wait'
  }
  return isHeld || graceful > 0 ? 'wait' : 'remove'
}

/** undefined: the kind knows no grace. A number: the grace that now holds. 'pending': nothing changes. */
function planGrace(scope: Scope, object: KubeObject, options: DeleteOptions): number | 'pending' | undefined {
  const { rules } = scope.served.definition
  if (rules.graceOnDelete === undefined) return undefined
  const requested = options.gracePeriodSeconds !== undefined && options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds
  const meta = object.metadata
  if (meta.deletionTimestamp !== undefined) {
    const left = meta.deletionGracePeriodSeconds
    // An object without a recorded grace was deleted without one: it goes as it is.
    if (left === undefined) return undefined
    if (requested === undefined || requested >= left) return left === 0 && (meta.finalizers ?? []).length === 0 ? undefined : 'pending'
    meta.deletionTimestamp = formatTime(Date.parse(meta.deletionTimestamp) + (requested - left) * 1000)
    meta.deletionGracePeriodSeconds = requested
    return requested
  }
  const grace = rules.graceOnDelete(object, requested)
  meta.deletionTimestamp = formatTime(scope.server.clock.now() + grace * 1000)
  meta.deletionGracePeriodSeconds = grace
  if ((meta.generation ?? 0) > 0) meta.generation = (meta.generation ?? 0) + 1
  return grace
}

function markDeleting(scope: Scope, object: KubeObject): void {
  const { rules } = scope.served.definition
  const meta = object.metadata
  const now = nowOf(scope)
  if (rules.markDeleting) {
    if (meta.deletionTimestamp !== undefined) return
    meta.deletionTimestamp = now
    rules.markDeleting(object, now)
    return
  }
  if (meta.deletionTimestamp === undefined) {
    if ((meta.generation ?? 0) > 0) meta.generation = (meta.generation ?? 0) + 1
    meta.deletionTimestamp = now
  }
  meta.deletionGracePeriodSeconds = 0
}

function finalizersForPropagation(scope: Scope, object: KubeObject, options: DeleteOptions): string[] {
  const existing = object.metadata.finalizers ?? []
  const wantsOrphan = shouldOrphan(scope, existing, options)
  const wantsForeground = options.propagationPolicy === 'Foreground' || (options.propagationPolicy === '' && options.orphanDependents === undefined && existing.includes(FOREGROUND))
  const kept = existing.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND)
  if (wantsOrphan === existing.includes(ORPHAN) && wantsForeground === existing.includes(FOREGROUND)) return existing
  return [...kept, ...(wantsOrphan ? [ORPHAN] : []), ...(wantsForeground ? [FOREGROUND] : [])]
}

function shouldOrphan(scope: Scope, existing: readonly string[], options: DeleteOptions): boolean {
  if (options.orphanDependents !== undefined) return options.orphanDependents
  if (options.propagationPolicy !== '') return options.propagationPolicy === 'Orphan'
  if (existing.includes(ORPHAN)) return true
  if (existing.includes(FOREGROUND)) return false
  return scope.served.definition.rules.defaultPropagation === 'orphan'
}

const isUntouched = (next: KubeObject, old: KubeObject): boolean => deepEqual(next.metadata.finalizers ?? [], old.metadata.finalizers ?? [])

function checkPreconditions(scope: Scope, old: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions
  const subject = { group: scope.served.definition.group, resource: scope.served.definition.kind }
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

function warnAboutDefaultOrphans(scope: Scope, options: DeleteOptions): void {
  const { definition } = scope.served
  if (definition.rules.defaultPropagation !== 'orphan' || options.propagationPolicy !== '' || options.orphanDependents !== undefined) return
  warn(
    scope,
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  )
}
