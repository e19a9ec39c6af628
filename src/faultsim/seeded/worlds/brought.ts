/** What modules bring to a world through their seam `seeded`, each to the clusters that it runs in. */
import type { Module } from '../../../runtime/module/module.ts'
import type { Generator, Invariant, InvariantView, RestInvariant, SeededPart } from '../../../runtime/seams/seeded.ts'
import { viewOf } from '../../prover/invariant-monitor.ts'
import type { WorldCluster } from '../../world/index.ts'

export interface Brought {
  generators: readonly Generator[]
  /** Those that belong together, of each module. */
  focuses: readonly (readonly Generator[])[]
  invariants: readonly Invariant[]
  equip(cluster: WorldCluster): void
  begin(cluster: WorldCluster): Promise<void>
  wrongAtRest(hub: InvariantView, members: ReadonlyMap<string, InvariantView>): string[]
  patienceMs(all: readonly WorldCluster[], waitedMs: number): number
}

interface Part extends SeededPart {
  runsIn(cluster: string): boolean
}

export function broughtBy(modules: readonly Module[]): Brought {
  const parts = modules.flatMap(({ roles, seeded }): Part[] =>
    seeded === undefined ? [] : [{ ...seeded, runsIn: (cluster) => roles.includes(cluster === 'hub' ? 'hub' : 'member') }],
  )
  const where = ({ runsIn }: Part, generators: readonly Generator[]): Generator[] => generators.map((one) => ({ isFor: runsIn, ...one }))
  return {
    generators: parts.flatMap((part) => where(part, part.generators)),
    focuses: parts
      .flatMap((part) => (part.focuses ?? [part.generators]).map((generators) => where(part, generators)))
      .filter((generators) => generators.length > 0),
    invariants: parts.flatMap(({ invariants }) => invariants),
    equip(cluster) {
      const scripts = parts.flatMap(({ runsIn, commandsInPods }) =>
        runsIn(cluster.name) ? (commandsInPods?.(viewOf(cluster.store)) ?? []) : [],
      )
      cluster.commands.script((call) => {
        for (const script of scripts) {
          const answer = script(call)
          if (answer !== undefined) return answer
        }
        return undefined
      })
    },
    async begin(cluster) {
      for (const { runsIn, beginning = [] } of parts) if (runsIn(cluster.name)) for (const object of beginning) await cluster.create(object)
    },
    wrongAtRest: (hub, members) => parts.flatMap(({ atRest = [] }) => atRest.flatMap((invariant) => wrongOf(invariant, hub, members))),
    patienceMs: (all, waitedMs) =>
      Math.max(
        0,
        ...all.flatMap(({ name, store }) =>
          parts.map((part) => (part.runsIn(name) ? (part.patienceMs?.(viewOf(store), waitedMs) ?? 0) : 0)),
        ),
      ),
  }
}

function wrongOf(invariant: RestInvariant, hub: InvariantView, members: ReadonlyMap<string, InvariantView>): string[] {
  const wrong = invariant.broken(hub, members)
  return wrong === undefined ? [] : [`"${invariant.says}" does not hold: ${wrong}`]
}
