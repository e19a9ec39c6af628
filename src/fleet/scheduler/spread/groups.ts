/**
 * Which groups (regions) to use: the combination with the highest weight, then the most clusters, among those that have
 * enough clusters and neither too few nor too many groups; and of it only as much as is needed. Karmada walks all
 * combinations; here a branch that cannot win is skipped, and the number of steps is bounded.
 */
import { compareStrings } from '../../../kube/go-print.ts'

export interface Group {
  readonly name: string
  /** How many clusters it has. */
  readonly size: number
  readonly weight: number
}

export interface GroupDemand {
  readonly minGroups: number
  readonly maxGroups: number
  /** Clusters that the groups must have in total. */
  readonly minSize: number
}

/** Beyond this many steps the best combination found so far is taken: 30 groups of 15 each would have 155 million. */
const MAX_STEPS = 200_000

/** In the order of their weight; undefined when no combination is sufficient. */
export function selectGroups(groups: readonly Group[], demand: GroupDemand): Group[] | undefined {
  const walked = [...groups].sort((a, b) => a.size - b.size || b.weight - a.weight || compareStrings(a.name, b.name))
  const best = bestPath(walked, demand)
  if (best === undefined) return undefined
  const sorted = [...best].sort((a, b) => b.weight - a.weight || compareStrings(a.name, b.name))
  for (let length = 0; length < sorted.length; length++) {
    const part = sorted.slice(0, length)
    if (isFoundByWalking(part, walked, demand)) return part
  }
  return sorted
}

const isEnough = (count: number, size: number, { minGroups, maxGroups, minSize }: GroupDemand): boolean =>
  size >= minSize && count >= minGroups && count <= maxGroups

/** A walk ends as soon as it has enough: a combination counts only if it did not have enough one step before. */
function isFoundByWalking(part: readonly Group[], walked: readonly Group[], demand: GroupDemand): boolean {
  const members = new Set(part)
  const inOrder = walked.filter((group) => members.has(group))
  let size = 0
  for (const [count, group] of inOrder.entries()) {
    if (isEnough(count, size, demand)) return false
    size += group.size
  }
  return isEnough(inOrder.length, size, demand)
}

interface Path {
  groups: Group[]
  weight: number
  size: number
}

function bestPath(walked: readonly Group[], demand: GroupDemand): readonly Group[] | undefined {
  const highest = suffixMaxima(walked.map(({ weight }) => weight))
  const sizes = prefixSums(walked.map(({ size }) => size))
  const path: Group[] = []
  let best: Path | undefined
  let steps = 0

  /** The largest come last. */
  const sizeOfLargest = (begin: number, count: number): number =>
    (sizes[walked.length] ?? 0) - (sizes[Math.max(begin, walked.length - count)] ?? 0)

  /** Whether a path from here can reach enough, and beat the best. Among equals the first one found stays. */
  function canWin(begin: number, weight: number, size: number): boolean {
    const more = Math.min(demand.maxGroups - path.length, walked.length - begin)
    const reachableSize = size + sizeOfLargest(begin, more)
    if (path.length + more < demand.minGroups || reachableSize < demand.minSize) return false
    if (best === undefined) return true
    const reachable = weight + more * (highest[begin] ?? 0)
    return reachable !== best.weight ? reachable > best.weight : reachableSize > best.size
  }

  function walk(begin: number, weight: number, size: number): void {
    steps++
    if (isEnough(path.length, size, demand)) {
      if (best === undefined || weight > best.weight || (weight === best.weight && size > best.size))
        best = { groups: [...path], weight, size }
      return
    }
    if (path.length >= demand.maxGroups) return
    for (let i = begin; i < walked.length; i++) {
      if (steps > MAX_STEPS || !canWin(i, weight, size)) return
      const group = walked[i] as Group
      path.push(group)
      walk(i + 1, weight + group.weight, size + group.size)
      path.pop()
    }
  }

  walk(0, 0, 0)
  return best?.groups
}

function prefixSums(values: readonly number[]): number[] {
  const sums = [0]
  for (const [i, value] of values.entries()) sums.push((sums[i] as number) + value)
  return sums
}

/** The maximum from each position to the end. */
function suffixMaxima(values: readonly number[]): number[] {
  const maxima = [...values]
  for (let i = maxima.length - 2; i >= 0; i--) maxima[i] = Math.max(maxima[i] as number, maxima[i + 1] as number)
  return maxima
}
