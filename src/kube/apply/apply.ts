/**
 * Server-side apply: merges an applied configuration into the live object, removes what its manager applied before and
 * no longer does, and refuses to take fields of others unless forced. Failures are the real server's, status and message.
 */
import { deepEqual, isJsonObject } from '../../base/json.ts'
import { groupVersion, type KubeObject } from '../meta.ts'
import { badRequestError, failure } from '../status.ts'
import { ConflictsError, conflictStatus } from './conflict.ts'
import { difference, fieldSetOf, hasPath, recursiveDifference } from './field-set.ts'
import { fieldsOfLastApplied, KUBECTL_MANAGER, withLastApplied } from './last-applied.ts'
import {
  bare,
  decodeManaged,
  encodeManaged,
  entriesOf,
  type Managed,
  type ManagerInfo,
  managerId,
  Ownership,
  withManagedFields,
} from './managed.ts'
import { mergeTyped } from './merge.ts'
import { reconcileManaged, resetSetOf, transferOwnership, withoutServerFields } from './ownership.ts'
import { pruneUnapplied } from './prune.ts'
import { ShapeError } from './shape-error.ts'
import { toFieldSet } from './to-field-set.ts'
import { emptyObject, updateInfo, updateOwnership } from './track.ts'
import type { Atom } from './types.ts'
import { validateTyped } from './validate.ts'
import { type ApplyContext, type Typed, typed } from './versions.ts'

const BEFORE_FIRST_APPLY = 'before-first-apply'

export interface ApplyInput {
  /** As stored, in any served version; undefined when the apply creates. */
  live: KubeObject | undefined
  /** The body of the request, as it was sent: neither defaulted nor completed. */
  applied: KubeObject
  manager: string
  force: boolean
  context: ApplyContext
}

export interface ApplyResult {
  /** Merged, with managed fields; still to be decoded, defaulted, admitted, prepared and validated. */
  object: KubeObject
  /** False when applying left everything but ownership as it was. */
  changed: boolean
}

/** Throws StatusError. */
export function serverSideApply(input: ApplyInput): ApplyResult {
  try {
    return apply(input)
  } catch (error) {
    if (error instanceof ConflictsError) throw conflictStatus(error)
    if (error instanceof ShapeError) throw failure(500, '', error.message)
    throw error
  }
}

interface Merged {
  object: KubeObject | undefined
  managed: Managed
}

function apply(input: ApplyInput): ApplyResult {
  const { applied, context, manager } = input
  const managed = decodeStored(input.live)
  checkKind(applied, context)
  const live = input.live ?? emptyObject(context)
  const known = managed.size > 0 ? managed : trackBeforeFirstApply(live, managed, context)
  const { object, managed: owned } = mergeAllowingLastApplied({ ...input, live, managed: known })
  const merged = object ?? live
  const result = manager === KUBECTL_MANAGER ? withLastApplied(merged, applied) : merged
  return { object: withManagedFields(result, encodeManaged(owned)), changed: object !== undefined }
}

function decodeStored(live: KubeObject | undefined): Managed {
  try {
    return decodeManaged(entriesOf(live) ?? [], true)
  } catch (error) {
    if (error instanceof ShapeError) throw new ShapeError(`failed to decode managed fields: ${error.message}`)
    throw error
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** `apps/v1, Kind=Deployment`; the core group leaves its slash behind. */
function kindText(object: KubeObject): string {
  const apiVersion = textOf(object.apiVersion)
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${textOf(object.kind)}`
}

function describe(object: KubeObject): string {
  const metadata = isJsonObject(object.metadata) ? object.metadata : {}
  return `${textOf(metadata.namespace)}/${textOf(metadata.name)}; ${kindText(object)}`
}

function checkKind(applied: KubeObject, { gvk }: ApplyContext): void {
  if (applied.apiVersion !== groupVersion(gvk.group, gvk.version) || applied.kind !== gvk.kind) {
    throw badRequestError(`invalid object type: ${kindText(applied)}`)
  }
}

/** What existed before anyone applied belongs to a manager of its own, so that the first apply can conflict with it. */
function trackBeforeFirstApply(live: KubeObject, managed: Managed, context: ApplyContext): Managed {
  try {
    const found = typed(bare(live), updateInfo(context).apiVersion, context)
    if (found !== undefined)
      validateAs(found.object, found.atom, { allowDuplicates: true, what: 'convert new object', to: ' to smd typed' })
    return updateOwnership({ live: undefined, next: live, managed, info: { ...updateInfo(context), manager: BEFORE_FIRST_APPLY }, context })
  } catch (error) {
    if (error instanceof ShapeError) throw new ShapeError(`failed to create manager for existing fields: ${error.message}`)
    throw error
  }
}

interface Merging extends ApplyInput {
  live: KubeObject
  managed: Managed
}

/** For kubectl, fields that client-side apply set, and that still have the value it set, are not in conflict. */
function mergeAllowingLastApplied(input: Merging): Merged {
  try {
    return mergeApplied(input)
  } catch (error) {
    if (!(error instanceof ConflictsError) || input.manager !== KUBECTL_MANAGER) throw error
    const live = typed(input.live, groupVersion(input.context.gvk.group, input.context.gvk.version), input.context)
    if (live === undefined) throw error
    const allowed = fieldsOfLastApplied(live)
    if (allowed.size === 0) throw error
    const contested = fieldSetOf(...error.conflicts.map(({ path }) => path))
    if (difference(contested, allowed).size === 0) return mergeApplied({ ...input, force: true })
    throw new ConflictsError(error.conflicts.filter(({ path }) => !hasPath(allowed, path)))
  }
}

function mergeApplied({ live: liveObject, applied, manager, force, managed, context }: Merging): Merged {
  const apiVersion = groupVersion(context.gvk.group, context.gvk.version)
  if (entriesOf(applied) !== undefined) throw badRequestError('metadata.managedFields must be nil')
  const live = typed(bare(liveObject), apiVersion, context)
  if (live === undefined) throw new ShapeError(`no corresponding type for ${kindText(applied)}`)
  validateAs(applied, live.atom, { allowDuplicates: false, what: 'create typed patch object' })
  validateAs(live.object, live.atom, { allowDuplicates: true, what: 'create typed live object' })

  const info: ManagerInfo = {
    manager: manager === '' ? 'unknown' : manager,
    operation: 'Apply',
    apiVersion,
    subresource: context.subresource,
  }
  const id = managerId(info)
  const owners = reconcileManaged(managed, context)
  const last = owners.get(id)
  const resetSet = resetSetOf(context)
  const set = recursiveDifference(toFieldSet(applied, live.atom), resetSet)
  owners.set(id, new Ownership(info, last?.time, { set }))
  const merged: Typed = { ...live, object: merge(live, applied) }
  const after = pruneUnapplied({ merged, managed: owners, last, context })
  const outcome = transferOwnership({ before: live, after, managed: owners, self: id, force, resetSet, context })
  const changed = !deepEqual(live.object, after.object)
  settleSelf(outcome.managed, id, changed ? context.now : last?.time)
  return { object: changed ? after.object : undefined, managed: outcome.managed }
}

function merge(live: Typed, applied: KubeObject): KubeObject {
  try {
    return mergeTyped(live.object, applied, live.atom) as KubeObject
  } catch (error) {
    if (error instanceof ShapeError) throw new ShapeError(`failed to merge config: ${error.message}`)
    throw error
  }
}

interface Purpose {
  allowDuplicates: boolean
  what: string
  to?: string
}

function validateAs(object: KubeObject, atom: Atom, { allowDuplicates, what, to = '' }: Purpose): void {
  try {
    validateTyped(object, atom, allowDuplicates)
  } catch (error) {
    if (error instanceof ShapeError) throw new ShapeError(`failed to ${what} (${describe(object)})${to}: ${error.message}`)
    throw error
  }
}

/** The applier's own entry: without the server's fields, and with a new time only when the object changed. */
function settleSelf(managed: Managed, id: string, time: string | undefined): void {
  const own = managed.get(id)
  if (own === undefined) return
  const set = withoutServerFields(own.set)
  if (set.size === 0) managed.delete(id)
  else managed.set(id, own.with({ set, time }))
}
