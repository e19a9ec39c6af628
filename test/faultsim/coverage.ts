/** What a proof has covered, in figures. */
import type { SeedResult } from '../../src/faultsim/seeded/prove-seed.ts'

export interface Coverage {
  add(result: SeedResult): void
  /** `seconds` of real time. */
  report(seconds: number): string[]
}

export function createCoverage(): Coverage {
  const faults = new Map<string, number>()
  const things = new Map<string, number>()
  const sum = { seeds: 0, turns: 0, writes: 0, virtualMs: 0, steps: 0 }
  const count = (map: Map<string, number>, key: string, by = 1): void => void map.set(key, (map.get(key) ?? 0) + by)
  return {
    add({ script, hits, figures }) {
      sum.seeds++
      sum.turns += figures.turns
      sum.writes += figures.writes
      sum.virtualMs += figures.virtualMs
      sum.steps += script.steps.length
      for (const hit of hits)
        count(faults, hit.at === 'delivery' ? 'hidden event' : hit.at === 'effect' ? `effect ${hit.fault}` : hit.fault.do)
      for (const [kind, times] of Object.entries(figures.moments)) count(faults, kind, times)
      for (const step of script.steps) count(things, step.desired === null ? `delete ${step.thing}` : step.thing)
    },
    report: (seconds) => [
      `${sum.seeds} seeds, each run twice with the same course: ${sum.steps} steps of people, ${sum.writes} writes of controllers, ${(sum.virtualMs / 3_600_000).toFixed(1)} virtual hours`,
      `faults: ${listed(faults)}`,
      `wishes: ${listed(things)}`,
      `${((sum.seeds / seconds) * 60).toFixed(0)} seeds per minute, ${(sum.turns / seconds).toFixed(0)} turns per second`,
    ],
  }
}

const listed = (map: ReadonlyMap<string, number>): string =>
  [...map]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, times]) => `${key} ${times}`)
    .join(', ') || 'none'
