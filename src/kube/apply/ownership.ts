/**
 * The core of managed fields: given an object before and after, who loses what, and whose fields were touched. Ownership
 * is evaluated in the version of each entry; entries in versions that no longer exist lose everything.
 */

import { compareStrings } from '../go-print.ts'
import { type Comparison, compareTyped } from './compare.ts'
import { type Conflict, ConflictsError } from './conflict.ts'
import { fieldElement } from './element.ts'
import { overlaps } from './encoded-set.ts'
import { difference, type FieldSet, fieldSetOf, intersection, pathsOf, recursiveDifference, union } from './field-set.ts'
import type { Managed, Ownership } from './managed.ts'
import { reconcileWithType } from './set-and-type.ts'
import { rootAtom } from './types.ts'
import { type ApplyContext, convertTyped, type Typed } from './versions.ts'

/** Fields that belong to the server: nobody owns them. */
const SERVER_FIELDS = fieldSetOf(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion'].map(
    (name) => ['f:metadata', fieldElement(name)],
  ),
)

export const withoutServerFields = (set: FieldSet): FieldSet => difference(set, SERVER_FIELDS)

export function resetSetOf(context: ApplyContext): FieldSet {
  return fieldSetOf(...context.resetPaths.map((path) => path.map(fieldElement)))
}

export interface Change {
  readonly before: Typed
  readonly after: Typed
  readonly managed: Managed
  /** The entry of the applier: never in conflict with itself. */
  readonly self?: string
  /** The entry of the updater: it takes what it touches anyway, so only removed fields are taken out of it. */
  readonly writer?: string
  /** Take the fields of others instead of failing with ConflictsError. */
  readonly force: boolean
  readonly resetSet: FieldSet
  readonly context: ApplyContext
}

export interface Outcome {
  readonly managed: Managed
  readonly comparison: Comparison
}

/** What is left of everyone's ownership after a change. */
export function transferOwnership(change: Change): Outcome {
  const { before, after, resetSet, self } = change
  const comparison = compareWithout(before, after, resetSet)
  const comparisons = new Map<string, Comparison | undefined>([[before.apiVersion, comparison]])
  const managed: Managed = new Map()
  const conflicts: Conflict[] = []
  const ids = [...change.managed.keys()]
  if (ids.length > 1) ids.sort(compareStrings)
  for (const id of ids) {
    const owner = change.managed.get(id)
    if (owner === undefined) continue
    if (id === self) {
      if (owner.set.size > 0) managed.set(id, owner)
      continue
    }
    const { apiVersion } = owner.info
    if (!comparisons.has(apiVersion)) comparisons.set(apiVersion, compareInVersion(change, apiVersion))
    const seen = comparisons.get(apiVersion)
    if (seen === undefined) continue
    const rest =
      id === change.writer ? ownedByWriter(owner, seen) : ownedAfter(id, owner, { seen, conflicts: change.force ? undefined : conflicts })
    if (rest !== undefined) managed.set(id, rest)
  }
  if (conflicts.length > 0) throw new ConflictsError(conflicts)
  return { managed, comparison }
}

function compareWithout(before: Typed, after: Typed, resetSet: FieldSet): Comparison {
  const { added, modified, removed } = compareTyped(before.object, after.object, before.atom)
  if (resetSet.size === 0) return { added, modified, removed }
  return {
    added: recursiveDifference(added, resetSet),
    modified: recursiveDifference(modified, resetSet),
    removed: recursiveDifference(removed, resetSet),
  }
}

function compareInVersion({ before, after, resetSet, context }: Change, apiVersion: string): Comparison | undefined {
  const old = convertTyped(before, apiVersion, context)
  const next = convertTyped(after, apiVersion, context)
  return old === undefined || next === undefined ? undefined : compareWithout(old, next, resetSet)
}

function ownedByWriter(owner: Ownership, { removed }: Comparison): Ownership | undefined {
  const { encoded } = owner
  if (encoded !== undefined && Object.keys(encoded).length > 0 && !overlaps(encoded, removed)) return owner
  return remaining(owner, difference(owner.set, removed))
}

interface Judged {
  readonly seen: Comparison
  /** Where to collect touched fields; without it they are lost to the writer that touched them. */
  readonly conflicts: Conflict[] | undefined
}

function ownedAfter(id: string, owner: Ownership, { seen, conflicts }: Judged): Ownership | undefined {
  const { added, modified, removed } = seen
  const encoded = owner.encoded
  if (encoded !== undefined && !overlaps(encoded, added) && !overlaps(encoded, modified) && !overlaps(encoded, removed)) {
    return Object.keys(encoded).length === 0 ? undefined : owner
  }
  const touched = intersection(owner.set, union(modified, added))
  if (conflicts !== undefined) for (const path of pathsOf(touched)) conflicts.push({ id, owner: owner.info, path })
  return remaining(owner, difference(difference(owner.set, touched), removed))
}

function remaining(owner: Ownership, set: FieldSet): Ownership | undefined {
  if (set.size === 0) return undefined
  return set === owner.set ? owner : owner.with({ set })
}

/** Drops entries in versions that no longer exist, and follows a custom kind's schema from granular to atomic. */
export function reconcileManaged(managed: Managed, context: ApplyContext): Managed {
  const out: Managed = new Map()
  for (const [id, owner] of managed) {
    const schema = context.schemaOf(owner.info.apiVersion)
    if (schema === undefined) continue
    // Schemas of built-in kinds do not change.
    const set = schema.definition === undefined ? reconcileWithType(owner.set, rootAtom(schema)) : undefined
    out.set(id, set === undefined || set === owner.set ? owner : owner.with({ set }))
  }
  return out
}
