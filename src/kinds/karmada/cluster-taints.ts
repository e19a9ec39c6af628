/**
 * Taints of clusters: which exist, which are added and removed, and how events describe them. A taint is
 * identified by its key and effect; an existing one keeps its value and the time it was added.
 */
import { tolerates } from '../kubernetes/taints.ts'
import type { Taint, Toleration } from './index.ts'

export type TaintKey = Pick<Taint, 'key' | 'effect'>

const isSame = (a: TaintKey, b: TaintKey): boolean => a.key === b.key && a.effect === b.effect

/** The same list where nothing changes. */
export function withTaints(taints: readonly Taint[], added: readonly Omit<Taint, 'timeAdded'>[], now: string): readonly Taint[] {
  const missing = added.filter((taint) => !taints.some((known) => isSame(known, taint)))
  if (missing.length === 0) return taints
  return [...taints, ...missing.map(({ key, value, effect }) => ({ key, ...(value ? { value } : {}), effect, timeAdded: now }))]
}

/** The same list where nothing changes. */
export function withoutTaints(taints: readonly Taint[], removed: readonly TaintKey[]): readonly Taint[] {
  const left = taints.filter((taint) => !removed.some((one) => isSame(one, taint)))
  return left.length === taints.length ? taints : left
}

export function describeTaints(taints: readonly Taint[]): string {
  if (taints.length === 0) return 'cluster now does not have taints'
  const reported = taints.map(({ key, value, effect }) => `{Key:${key},${value ? `Value:${value},` : ''}Effect:${effect}}`)
  return `cluster now has taints([${reported.join(',')}])`
}

export const noExecuteTaints = (taints: readonly Taint[] | undefined): readonly Taint[] =>
  (taints ?? []).filter(({ effect }) => effect === 'NoExecute')

const NOW = Number.NEGATIVE_INFINITY
export const NEVER = Number.POSITIVE_INFINITY

/** When NoExecute taints evict a binding, in milliseconds: NOW for a taint that is not tolerated, NEVER where all are tolerated for ever. */
export function evictionDue(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  const used = taints.map((taint) => tolerations.find((toleration) => tolerates(toleration, taint)))
  if (used.includes(undefined)) return NOW
  const ends = used.flatMap((toleration) => {
    const seconds = toleration?.tolerationSeconds
    if (toleration === undefined || seconds === undefined || seconds === null) return []
    return taints.filter((taint) => tolerates(toleration, taint)).map(({ timeAdded }) => endOf(timeAdded, seconds))
  })
  return ends.reduce((first, end) => Math.min(first, end), NEVER)
}

/** A taint without a known time never expires its toleration. */
function endOf(timeAdded: string | undefined, seconds: number): number {
  const addedMs = timeAdded === undefined ? Number.NaN : Date.parse(timeAdded)
  return Number.isNaN(addedMs) ? NEVER : addedMs + seconds * 1000
}
