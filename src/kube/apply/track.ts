/**
 * Managed fields after a create, update or patch that is not an apply: the writer owns what differs from before, and
 * nobody else owns it any more. Runs on every write, so unchanged parts are skipped.
 */
import { deepEqual } from '../../base/json.ts'
import { compareStrings } from '../go-print.ts'
import { groupVersion, type KubeObject } from '../meta.ts'
import { StatusError } from '../status.ts'
import { covers } from './encoded-set.ts'
import { type FieldSet, recursiveDifference, union } from './field-set.ts'
import {
  bare,
  compareTimes,
  decodeManaged,
  encodeManaged,
  entriesOf,
  isReset,
  type Managed,
  type ManagerInfo,
  managerId,
  Ownership,
  withManagedFields,
} from './managed.ts'
import { type Change, reconcileManaged, resetSetOf, transferOwnership, withoutServerFields } from './ownership.ts'
import { ShapeError } from './shape-error.ts'
import { zeroObject } from './types.ts'
import { type ApplyContext, typed } from './versions.ts'

/** How many entries updates may leave; beyond that the oldest are merged. */
const MAX_UPDATE_MANAGERS = 10
const ANCIENT_MANAGER = 'ancient-changes'

export interface TrackInput {
  /** As stored, in any served version; undefined on create. */
  live: KubeObject | undefined
  /** As decoded and defaulted, in the version of the request: before admission, before the kind's own preparation. */
  next: KubeObject
  /** fieldManager of the request, or the first part of its user agent. */
  manager: string
  context: ApplyContext
}

/** `next` with its managed fields; they are left out when ownership cannot be determined, rather than guessed. */
export function trackUpdate(input: TrackInput): KubeObject {
  const { live, next, context } = input
  try {
    const managed = ownershipBefore(live, next, context.subresource)
    // An object that is not tracked yet becomes tracked with its first apply.
    if (managed.size === 0 && live !== undefined) return withManagedFields(next, undefined)
    const info: ManagerInfo = { ...updateInfo(context), manager: input.manager === '' ? 'unknown' : input.manager }
    return withManagedFields(next, encodeManaged(updateOwnership({ live, next, managed, info, context })))
  } catch (error) {
    if (error instanceof ShapeError || error instanceof StatusError) return withManagedFields(next, undefined)
    throw error
  }
}

export function updateInfo({ gvk, subresource }: ApplyContext): ManagerInfo {
  return { manager: '', operation: 'Update', apiVersion: groupVersion(gvk.group, gvk.version), subresource }
}

/** Clients may write managed fields, and may clear them; unreadable ones count as cleared. */
function ownershipBefore(live: KubeObject | undefined, next: KubeObject, subresource: string): Managed {
  const stored = entriesOf(live) ?? []
  const given = subresource === '' ? entriesOf(next) : undefined
  if (given === undefined || given === stored) return decodeOr(stored, true)
  if (isReset(given)) return new Map()
  if (deepEqual(given, stored)) return decodeOr(stored, true)
  const managed = decodeOr(given, false)
  return managed.size === 0 ? decodeOr(stored, true) : managed
}

function decodeOr(entries: NonNullable<ReturnType<typeof entriesOf>>, trusted: boolean): Managed {
  try {
    return decodeManaged(entries, trusted)
  } catch (error) {
    if (error instanceof ShapeError) return new Map()
    throw error
  }
}

export interface Update {
  live: KubeObject | undefined
  next: KubeObject
  managed: Managed
  info: ManagerInfo
  context: ApplyContext
}

/** Everyone's ownership after `info` wrote `next`. Throws ShapeError when the objects do not fit their schema. */
export function updateOwnership({ live, next, managed, info, context }: Update): Managed {
  const { apiVersion } = info
  const before = typed(bare(live ?? emptyObject(context)), apiVersion, context)
  const after = typed(bare(next), apiVersion, context)
  if (before === undefined || after === undefined) throw new ShapeError(`no corresponding type for ${apiVersion}`)
  const resetSet = resetSetOf(context)
  const id = managerId(info)
  const change: Change = { before, after, managed: reconcileManaged(managed, context), writer: id, force: true, resetSet, context }
  const outcome = transferOwnership(change)
  const { added, modified } = outcome.comparison
  const taken = withoutServerFields(recursiveDifference(union(modified, added), resetSet))
  if (taken.size === 0) return capUpdateManagers(outcome.managed)
  const previous = outcome.managed.get(id)
  outcome.managed.set(
    id,
    previous === undefined ? new Ownership(info, context.now, { set: taken }) : extended(previous, taken, context.now),
  )
  return capUpdateManagers(outcome.managed)
}

/** Writing what one already owns changes only the time. */
function extended(previous: Ownership, taken: FieldSet, now: string): Ownership {
  if (previous.encoded !== undefined && covers(previous.encoded, taken)) return previous.renewed(now)
  return new Ownership(previous.info, now, { set: union(previous.set, taken) })
}

export function emptyObject(context: ApplyContext): KubeObject {
  if (context.emptyObject !== undefined) return context.emptyObject
  const { group, version, kind } = context.gvk
  const apiVersion = groupVersion(group, version)
  return zeroObject(context.schemaOf(apiVersion) ?? {}, apiVersion, kind)
}

/** The oldest entries of updates in one version become one entry, until there are few enough. */
function capUpdateManagers(managed: Managed): Managed {
  const updaters = [...managed].filter(([, owner]) => owner.info.operation === 'Update')
  let excess = updaters.length - MAX_UPDATE_MANAGERS
  if (excess <= 0) return managed
  updaters.sort(([a, x], [b, y]) => compareTimes(x.time, y.time) || compareStrings(a, b))
  const firstOfVersion = new Map<string, string>()
  for (const [id, owner] of updaters) {
    if (excess <= 0) break
    const { apiVersion } = owner.info
    const first = firstOfVersion.get(apiVersion)
    if (first === undefined) {
      firstOfVersion.set(apiVersion, id)
      continue
    }
    const info: ManagerInfo = { manager: ANCIENT_MANAGER, operation: 'Update', apiVersion, subresource: '' }
    const bucketId = managerId(info)
    if (!managed.has(bucketId)) {
      const oldest = managed.get(first)
      managed.delete(first)
      if (oldest !== undefined) managed.set(bucketId, oldest)
    }
    const bucket = managed.get(bucketId)
    managed.delete(id)
    managed.set(bucketId, new Ownership(info, owner.time, { set: bucket === undefined ? owner.set : union(bucket.set, owner.set) }))
    excess--
  }
  return managed
}

/**
 * Call before storing an update: when only the times of managed fields differ, the old times are kept, so that
 * the write is a no-op.
 */
export function keepTimesWhenUnchanged(live: KubeObject, next: KubeObject): KubeObject {
  const before = entriesOf(live)
  const after = entriesOf(next)
  if (before === undefined || after === undefined || before.length !== after.length || before.length === 0) return next
  if (after.every((entry, i) => entry.time === before[i]?.time)) return next
  const same = after.every((entry, i) => deepEqual({ ...entry, time: undefined }, { ...before[i], time: undefined }))
  if (!same || !deepEqual(withManagedFields(live, undefined), withManagedFields(next, undefined))) return next
  return withManagedFields(next, [...before])
}
