/**
 * As many of the preferred clusters as the constraint allows. If they cannot hold all replicas together, the last of them
 * are replaced by clusters with more capacity, until they can.
 */
import type { SpreadConstraint } from '../../../kinds/karmada/index.ts'
import type { Candidate } from '../candidate.ts'
import { heapOf } from '../heap.ts'
import type { Selection } from './selection.ts'

/** `needed` undefined: free capacity does not matter. */
export function selectByCluster(candidates: readonly Candidate[], constraint: SpreadConstraint, needed: number | undefined): Selection {
  const { minGroups = 0, maxGroups = 0 } = constraint
  if (candidates.length < minGroups) return { problem: 'the number of feasible clusters is less than spreadConstraint.MinGroups' }
  const count = Math.max(0, Math.min(candidates.length, maxGroups))
  const whyNot = ({ score, available }: Candidate): string =>
    `${count} of ${candidates.length} clusters were to be chosen, and others come before it (score ${score}, ${available} replicas available)`
  if (needed === undefined) return { selected: candidates.slice(0, count), whyNot }
  const selected = withEnough(candidates, count, needed)
  return selected === undefined || selected.length === 0
    ? { problem: `no enough resource when selecting ${count} clusters` }
    : { selected, whyNot }
}

function withEnough(candidates: readonly Candidate[], count: number, needed: number): Candidate[] | undefined {
  const places = [...candidates]
  const availableAt = (place: number): number => (places[place] as Candidate).available
  let sum = 0
  for (let place = 0; place < count; place++) sum += availableAt(place)
  if (sum >= needed) return places.slice(0, count)
  const rest = Array.from({ length: places.length - count }, (_, i) => count + i)
  const heap = heapOf(rest, (a, b) => availableAt(a) > availableAt(b) || (availableAt(a) === availableAt(b) && a < b))
  for (let place = count - 1; place >= 0 && sum < needed; place--) {
    const best = heap.peek()
    if (best === undefined || availableAt(best) <= availableAt(place)) continue
    sum += availableAt(best) - availableAt(place)
    const out = places[place] as Candidate
    places[place] = places[best] as Candidate
    places[best] = out
    heap.sink()
  }
  return sum >= needed ? places.slice(0, count) : undefined
}
