/**
 * Claims that wait for each other for ever. A claim waits until one of the workloads that make its data has made it; a
 * workload waits until all its claims are resolved. Those that can never get what they wait for are on a cycle, or behind
 * one; only those on it are members. Every member finds the same members and the same text. Pure; looks at a bounded number
 * of claims, and takes for granted that those beyond will be resolved.
 */
import { compareStrings } from '../../kube/go-print.ts'

/** For each workload that would make the data of a claim, the unresolved claims it waits for; all claims as `namespace/name`. */
export type WaitsOf = (claim: string) => readonly (readonly string[])[]

/** Claims, and what they wait for: a tenant can tangle up as many as it likes, and each of them looks. */
const MOST_VISITED = 200
const MOST_WAITS = 1000
const MOST_NAMED = 20

/** The members of the cycle that a claim is on, as a text; undefined when it is on none. */
export function cycleThrough(claim: string, waitsOf: WaitsOf): string | undefined {
  const waits = visited(claim, waitsOf)
  const blocked = blockedIn(waits)
  if (!blocked.has(claim)) return undefined
  const next = (of: string): string[] => [...new Set(waits.get(of)?.flat() ?? [])].filter((one) => blocked.has(one))
  const members = membersWith(claim, blocked, next)
  return members === undefined ? undefined : textOf(members, next)
}

/** What each claim that can be reached waits for, in the order in which they were found. */
function visited(start: string, waitsOf: WaitsOf): Map<string, readonly (readonly string[])[]> {
  const found = new Map<string, readonly (readonly string[])[]>()
  const left = [start]
  let seen = 0
  for (let claim = left.pop(); claim !== undefined && found.size < MOST_VISITED && seen < MOST_WAITS; claim = left.pop()) {
    if (found.has(claim)) continue
    const waits = waitsOf(claim)
    found.set(claim, waits)
    for (const claims of waits) {
      seen += claims.length
      for (const one of claims) left.push(one)
    }
  }
  return found
}

/**
 * What can never be resolved. Everything else is free: what nobody makes, and what somebody makes who waits for nothing, or
 * only for what is free. Takes time in proportion to what is waited for.
 */
function blockedIn(waits: ReadonlyMap<string, readonly (readonly string[])[]>): Set<string> {
  const blocked = new Set(waits.keys())
  const waiting = new Map<string, { for: string; left: number }[]>()
  const free: string[] = []
  for (const [claim, makers] of waits) {
    let isFree = makers.length === 0
    for (const claims of makers) {
      const known = [...new Set(claims)].filter((one) => waits.has(one))
      const maker = { for: claim, left: known.length }
      if (known.length === 0) isFree = true
      for (const one of known) {
        const others = waiting.get(one)
        if (others === undefined) waiting.set(one, [maker])
        else others.push(maker)
      }
    }
    if (isFree) free.push(claim)
  }
  for (let claim = free.pop(); claim !== undefined; claim = free.pop()) {
    if (!blocked.delete(claim)) continue
    for (const maker of waiting.get(claim) ?? []) if (--maker.left === 0) free.push(maker.for)
  }
  return blocked
}

/** The claims that `start` leads to and that lead back to it; undefined when there is no way back. */
function membersWith(start: string, blocked: ReadonlySet<string>, next: (of: string) => readonly string[]): Set<string> | undefined {
  const from = reach([start], next)
  if (!from.has(start)) return undefined
  const before = new Map<string, string[]>()
  for (const claim of blocked)
    for (const one of next(claim)) {
      const known = before.get(one)
      if (known === undefined) before.set(one, [claim])
      else known.push(claim)
    }
  const to = reach([start], (claim) => before.get(claim) ?? [])
  return new Set([...from].filter((claim) => to.has(claim)))
}

/** Does not contain where it began, unless there is a way back. */
function reach(starts: readonly string[], next: (of: string) => readonly string[]): Set<string> {
  const found = new Set<string>()
  const left = starts.flatMap(next)
  for (let claim = left.pop(); claim !== undefined; claim = left.pop()) {
    if (found.has(claim)) continue
    found.add(claim)
    for (const one of next(claim)) left.push(one)
  }
  return found
}

/** A plain cycle from its first member by name and back to it; anything more tangled as a list. */
function textOf(members: ReadonlySet<string>, next: (of: string) => readonly string[]): string {
  const sorted = [...members].sort(compareStrings)
  const within = (claim: string): string[] => next(claim).filter((one) => members.has(one))
  const [first = ''] = sorted
  if (members.size <= MOST_NAMED && sorted.every((claim) => within(claim).length === 1)) {
    const path = [first]
    for (let [claim] = within(first); claim !== undefined && claim !== first; [claim] = within(claim)) path.push(claim)
    return [...path, first].join(' → ')
  }
  return sorted.length <= MOST_NAMED ? sorted.join(', ') : `${sorted.slice(0, MOST_NAMED).join(', ')} and others`
}
