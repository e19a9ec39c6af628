/**
 * Which ordinals a set wants: as many as it has replicas, the smallest from its first one that are not reserved. Kept as
 * bounds and gaps, never as a list: neither a huge number of replicas nor a reserved range of millions costs anything.
 */
import type { IntOrString } from '../../../kube/int-or-string.ts'
import type { StatefulWorkload } from './workload.ts'

export const MAX_ORDINAL = 2 ** 31 - 1

export interface Ordinals {
  /** How many there are. */
  readonly count: number
  has(ordinal: number): boolean
  /** Position of a wanted ordinal among the wanted ones, from 0. */
  indexOf(ordinal: number): number
  /** All of them, ascending. */
  [Symbol.iterator](): Iterator<number>
}

interface Gap {
  from: number
  /** Inclusive. */
  to: number
}

export const firstOrdinal = (set: StatefulWorkload): number => set.spec?.ordinals?.start ?? 0

export const replicasOf = (set: StatefulWorkload): number => set.spec?.replicas ?? 1

export function ordinalsOf(set: StatefulWorkload): Ordinals {
  const first = firstOrdinal(set)
  const gaps = gapsFrom(first, set.spec?.reserveOrdinals ?? [])
  let end = first + replicasOf(set)
  for (const { from, to } of gaps) if (from < end) end += to - from + 1
  // No pod can have a higher one.
  end = Math.min(end, MAX_ORDINAL + 1)
  const isReserved = (ordinal: number): boolean => gaps.some(({ from, to }) => ordinal >= from && ordinal <= to)
  const below = (ordinal: number): number => gaps.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to + 1, ordinal) - from), 0)
  return {
    count: Math.max(0, end - first - below(end)),
    has: (ordinal) => ordinal >= first && ordinal < end && !isReserved(ordinal),
    indexOf: (ordinal) => ordinal - first - below(ordinal),
    *[Symbol.iterator]() {
      let next = 0
      for (let ordinal = first; ordinal < end; ordinal++) {
        const gap = gaps[next]
        if (gap?.from === ordinal) {
          ordinal = gap.to
          next++
        } else yield ordinal
      }
    },
  }
}

/** The reserved ranges from `first` on, ascending, without overlaps. What cannot be read reserves nothing. */
function gapsFrom(first: number, reserved: readonly IntOrString[]): Gap[] {
  const sorted = reserved
    .map(readGap)
    .filter((gap): gap is Gap => gap !== undefined && gap.to >= first)
    .sort((a, b) => a.from - b.from)
  const gaps: Gap[] = []
  for (const { from, to } of sorted) {
    const last = gaps.at(-1)
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to)
    else gaps.push({ from: Math.max(from, first), to })
  }
  return gaps
}

const RANGE = /^([0-9]{1,10})(?:-([0-9]{1,10}))?$/

function readGap(reserved: IntOrString): Gap | undefined {
  const [, from, to = from] = RANGE.exec(String(reserved)) ?? []
  return from === undefined || Number(from) > Number(to) ? undefined : { from: Number(from), to: Number(to) }
}
