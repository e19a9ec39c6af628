/**
 * Which workers a block belongs to: weighted rendezvous hashing of its name over the workers that serve. Every program on every
 * machine must come to the same result: hashes are of 32-bit integers, and the logarithm is made of sums, products and quotients,
 * which the language defines to the bit; `Math.log` it leaves to the engine.
 */
import { type BlockKey, blockName } from '../protocol/block.ts'
import type { WorkerEntry } from '../protocol/membership.ts'

export interface Placement {
  /** The workers of a block, the first in order first. Those after its first `replicas` are asked when these cannot answer. */
  ownersOf(key: BlockKey, count: number): WorkerEntry[]
}

interface Candidate {
  worker: WorkerEntry
  weight: number
  high: number
  low: number
}

/** Workers that do not serve own nothing. */
export function createPlacement(workers: readonly WorkerEntry[]): Placement {
  const candidates: Candidate[] = workers
    .filter(({ state }) => state === 'serving')
    .map((worker) => ({ worker, weight: weightOf(worker), high: hashOf(worker.name, 0x9e3779b9), low: hashOf(worker.name, 0x85ebca6b) }))
  return {
    ownersOf(key, count) {
      const name = blockName(key)
      const [high, low] = [hashOf(name, 0x27d4eb2f), hashOf(name, 0x165667b1)]
      const scored = candidates.map((candidate) => ({ worker: candidate.worker, score: scoreOf(candidate, high, low) }))
      scored.sort((a, b) => b.score - a.score || (a.worker.name < b.worker.name ? -1 : 1))
      return scored.slice(0, count).map(({ worker }) => worker)
    },
  }
}

/** A worker without capacity still gets a share, if a tiny one: with nobody else, it serves. */
const weightOf = ({ weight }: WorkerEntry): number => (Number.isFinite(weight) && weight > 1 ? weight : 1)

/** The owner is whoever has most: the chance of that is proportional to the weight. */
function scoreOf(candidate: Candidate, high: number, low: number): number {
  const first = mix(candidate.high ^ high)
  const second = mix(candidate.low + low + first)
  // 52 bits, in the middle of their step: neither 0 nor 1.
  const chance = ((first >>> 0) * 2 ** 20 + (second >>> 12) + 0.5) / 2 ** 52
  return candidate.weight / -logarithm(chance)
}

/** FNV-1a, then mixed: names differ in few characters. */
function hashOf(text: string, seed: number): number {
  let hash = seed ^ 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mix(hash)
}

/** The finaliser of MurmurHash3. */
function mix(value: number): number {
  let hash = value | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

/** Of a number in (0, 1): halved or doubled into [0.75, 1.5), then 2 artanh((x - 1) / (x + 1)) as a series. */
export function logarithm(value: number): number {
  let x = value
  let doublings = 0
  while (x < 0.75) {
    x *= 2
    doublings++
  }
  const s = (x - 1) / (x + 1)
  const square = s * s
  let sum = 0
  for (let n = 21; n >= 1; n -= 2) sum = sum * square + 1 / n
  return 2 * s * sum - doublings * Math.LN2
}
