/**
 * Sets of completion indexes as ordered intervals, and their text form in a Job's status: `0,2-4,7`. Work is bounded by
 * the number of intervals, never by the number of indexes.
 */
export interface Interval {
  readonly first: number
  readonly last: number
}

export type Intervals = readonly Interval[]

/** Malformed parts are skipped, and what is not below `completions` is left out. */
export function parseIntervals(text: string | undefined, completions: number): Intervals {
  if (text === undefined || text === '') return []
  const list: Interval[] = []
  for (const part of text.split(',')) {
    const bounds = part.split('-').map((bound) => (/^\d{1,15}$/.test(bound) ? Number(bound) : undefined))
    const [first, last = first] = bounds
    if (first === undefined || last === undefined || bounds.includes(undefined) || last < first) continue
    if (first < completions) list.push({ first, last: Math.min(last, completions - 1) })
  }
  return union(
    list.sort((a, b) => a.first - b.first),
    [],
  )
}

/** Two neighbours are written one by one, three or more as a range. */
export function formatIntervals(intervals: Intervals): string {
  return intervals
    .map(({ first, last }) => (last === first ? String(first) : last === first + 1 ? `${first},${last}` : `${first}-${last}`))
    .join(',')
}

export const countIndexes = (intervals: Intervals): number => intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0)

export function hasIndex(intervals: Intervals, index: number): boolean {
  let [low, high] = [0, intervals.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((intervals[middle]?.last ?? 0) >= index) high = middle
    else low = middle + 1
  }
  const found = intervals[low]
  return found !== undefined && found.first <= index
}

export function intervalsOf(indexes: Iterable<number>): Intervals {
  return union(
    [...indexes].sort((a, b) => a - b).map((index) => ({ first: index, last: index })),
    [],
  )
}

export function union(left: Intervals, right: Intervals): Intervals {
  const result: { first: number; last: number }[] = []
  const all = [...left, ...right].sort((a, b) => a.first - b.first)
  for (const { first, last } of all) {
    const before = result[result.length - 1]
    if (before === undefined || first > before.last + 1) result.push({ first, last })
    else if (last > before.last) before.last = last
  }
  return result
}

/** How many indexes are in both. */
export function countShared(left: Intervals, right: Intervals): number {
  let [i, j, shared] = [0, 0, 0]
  for (let a = left[i], b = right[j]; a !== undefined && b !== undefined; a = left[i], b = right[j]) {
    shared += Math.max(0, Math.min(a.last, b.last) - Math.max(a.first, b.first) + 1)
    if (a.last <= b.last) i++
    if (b.last <= a.last) j++
  }
  return shared
}

/** The first `count` indexes below `completions` that are in none of the intervals. */
export function firstMissing(intervals: Intervals, count: number, completions: number): number[] {
  const missing: number[] = []
  let candidate = 0
  for (const { first, last } of intervals) {
    for (; candidate < first && candidate < completions && missing.length < count; candidate++) missing.push(candidate)
    candidate = Math.max(candidate, last + 1)
  }
  for (; candidate < completions && missing.length < count; candidate++) missing.push(candidate)
  return missing
}
