/**
 * Removes what an applier applied last time and does not apply now, unless someone else owns it (or nobody did, so that it
 * was not the applier's to remove).
 */
import type { KubeObject } from '../meta.ts'
import { difference, emptyFieldSet, type FieldSet, intersection, union } from './field-set.ts'
import type { Managed, Ownership } from './managed.ts'
import { removePaths } from './remove.ts'
import { withDeclaredFields } from './set-and-type.ts'
import { toFieldSet } from './to-field-set.ts'
import { type ApplyContext, convertTyped, type Typed } from './versions.ts'

export interface Pruning {
  readonly merged: Typed
  /** Including the applier's new set. */
  readonly managed: Managed
  /** What the applier owned before. */
  readonly last: Ownership | undefined
  readonly context: ApplyContext
}

export function pruneUnapplied(pruning: Pruning): Typed {
  const { merged, last, context } = pruning
  if (last === undefined || last.set.size === 0) return merged
  const mergedThen = convertTyped(merged, last.info.apiVersion, context)
  if (mergedThen === undefined) return merged
  const bare = without(mergedThen, withDeclaredFields(last.set, mergedThen.atom))
  const owned = addBackOwned(mergedThen, bare, pruning)
  const pruned = addBackDangling(mergedThen, owned, { last, context })
  return convertTyped(pruned, merged.apiVersion, context) ?? merged
}

function without(value: Typed, paths: FieldSet): Typed {
  return paths.size === 0 ? value : { ...value, object: removePaths(value.object, paths, value.atom) as KubeObject }
}

/** Puts back what any owner claims, the applier's new set included; first in the version it was pruned in. */
function addBackOwned(mergedThen: Typed, bare: Typed, { managed, context }: Pruning): Typed {
  const owned = new Map<string, FieldSet>([[mergedThen.apiVersion, emptyFieldSet]])
  for (const { info, set } of managed.values()) owned.set(info.apiVersion, union(owned.get(info.apiVersion) ?? emptyFieldSet, set))
  let merged = mergedThen
  let pruned = bare
  for (const [apiVersion, set] of owned) {
    const mergedHere = convertTyped(merged, apiVersion, context)
    const prunedHere = convertTyped(pruned, apiVersion, context)
    if (mergedHere === undefined || prunedHere === undefined) continue
    const { atom } = mergedHere
    const all = withDeclaredFields(toFieldSet(mergedHere.object, atom), atom)
    const kept = withDeclaredFields(toFieldSet(prunedHere.object, atom), atom)
    merged = mergedHere
    pruned = without(mergedHere, difference(all, union(kept, withDeclaredFields(set, atom))))
  }
  return pruned
}

/** Puts back what nobody claims but what the applier did not own either. */
function addBackDangling(mergedThen: Typed, pruned: Typed, { last, context }: { last: Ownership; context: ApplyContext }): Typed {
  const prunedThen = convertTyped(pruned, last.info.apiVersion, context)
  if (prunedThen === undefined) return mergedThen
  const { atom } = mergedThen
  const kept = withDeclaredFields(toFieldSet(prunedThen.object, atom), atom)
  const all = withDeclaredFields(toFieldSet(mergedThen.object, atom), atom)
  return without(mergedThen, intersection(difference(all, kept), withDeclaredFields(last.set, atom)))
}
