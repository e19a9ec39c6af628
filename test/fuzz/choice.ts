/** Choices from a seeded source: the same seed and number give the same request, whatever happened before it. */
import { type Random, seededRandom } from '../../src/base/random.ts'

export interface Choice extends Random {
  below(limit: number): number
  between(low: number, high: number): number
  chance(share: number): boolean
  of<T>(items: readonly T[]): T
  /** One of them, by weight. */
  weighted<T>(items: readonly (readonly [number, T])[]): T
}

export function choiceFor(seed: number, index: number): Choice {
  const random = seededRandom((Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0)
  // The first numbers of neighbouring seeds are alike.
  for (let i = 0; i < 4; i++) random.next()
  const below = (limit: number): number => Math.floor(random.next() * limit)
  const of = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new Error('nothing to choose from')
    return items[below(items.length)] as T
  }
  return {
    ...random,
    below,
    between: (low, high) => low + below(high - low + 1),
    chance: (share) => random.next() < share,
    of,
    weighted(items) {
      let at = random.next() * items.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, item] of items) {
        at -= weight
        if (at < 0) return item
      }
      return of(items)[1]
    },
  }
}
