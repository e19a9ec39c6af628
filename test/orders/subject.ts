/**
 * Things that users create in any order, whose end is the same in each. What there is to create, and what is to come of it, says the
 * subject; which orders are tried, and how it is told, is the same for all of them.
 */
import { seededRandom } from '../../src/base/random.ts'
import type { WorldSnapshot } from '../../src/faultsim/world/snapshot.ts'
import type { Module } from '../../src/runtime/module/module.ts'

/** Where a run begins, and with which modules (default: all). */
export interface Start {
  from: WorldSnapshot
  modules?: readonly Module[]
}

/** One way to create them: in each of them every order ends in the same way. */
export interface Variant<Thing extends string> {
  text: string
  /** What is wrong with this order; undefined when nothing is. */
  wrongIn(order: readonly Thing[], start: Start): Promise<string | undefined>
}

export interface Subject<Thing extends string> {
  name: string
  things: readonly Thing[]
  variants: readonly Variant<Thing>[]
  /** What is there before all of them. */
  beginning(): Promise<WorldSnapshot>
}

/** All orders, each once. */
export function ordersOf<T>(all: readonly T[]): T[][] {
  if (all.length <= 1) return [[...all]]
  return all.flatMap((first, i) => ordersOf([...all.slice(0, i), ...all.slice(i + 1)]).map((rest) => [first, ...rest]))
}

/** So many of them, each once, chosen by a seed. */
export function sampleOf<T>(all: readonly T[], count: number, seed: number): T[] {
  const random = seededRandom(seed)
  const left = [...all]
  return Array.from({ length: Math.min(count, all.length) }, () => left.splice(Math.floor(random.next() * left.length), 1)).flat()
}
