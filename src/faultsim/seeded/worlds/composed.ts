/**
 * The whole system: a hub with its fleet and three members with all their controllers and simulated nodes, and users acting
 * in all of them.
 */

import { fleet } from '../../../fleet/module.ts'
import { MODULES } from '../../../modules.ts'
import { configure } from '../../../runtime/module/configure.ts'
import type { Module } from '../../../runtime/module/module.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { viewOf } from '../../prover/invariant-monitor.ts'
import type { WorldCluster } from '../../world/index.ts'
import { FLEET_GENERATORS, FOREIGN_GENERATORS } from '../generators/fleet/index.ts'
import { GENERATORS } from '../generators/index.ts'
import type { SeededWorld } from '../seeded-world.ts'
import { type Brought, broughtBy } from './brought.ts'
import { isUnfinished, wrongAtRest } from './fleet/at-rest.ts'
import { FLEET_INVARIANTS } from './fleet/invariants.ts'
import { joinAll, MEMBERS } from './fleet/joined.ts'
import { MEMBER_INVARIANTS } from './member-invariants.ts'

/** Failover settings that keep a seed short. */
const FLEET_OPTIONS = { failover: { evictionsPerSecond: 10, gracefulEvictionTimeoutSeconds: 30 } }
/** A cluster counts as ready again after half a minute, and its free capacity is reported periodically. */
const CLUSTERS_MS = 45_000
/** A refused Work is retried after five minutes at the latest. */
const WORKS_MS = 310_000

const patienceMs =
  (brought: Brought) =>
  (all: readonly WorldCluster[], waitedMs: number): number => {
    const broughtMs = brought.patienceMs(all, waitedMs)
    if (waitedMs === 0) return Math.max(CLUSTERS_MS, broughtMs)
    const hub = all.find(({ name }) => name === 'hub')
    return waitedMs < WORKS_MS && hub !== undefined && isUnfinished(viewOf(hub.store)) ? WORKS_MS : broughtMs
  }

const onlyIn = (generators: readonly Generator[], isFor: (cluster: string) => boolean): Generator[] =>
  generators.map((generator) => ({ ...generator, isFor }))

const atRest =
  (brought: Brought) =>
  async ({ name, store }: WorldCluster, all: readonly WorldCluster[]): Promise<void> => {
    if (name !== 'hub') return
    const hub = viewOf(store)
    const members = new Map(all.filter((one) => one.name !== name).map((one) => [one.name, viewOf(one.store)]))
    const wrong = [...wrongAtRest({ hub, members }), ...brought.wrongAtRest(hub, members)]
    if (wrong.length > 0) throw new Error(wrong.join('; '))
  }

export function composedWorld(modules: readonly Module[] = MODULES): SeededWorld {
  const isMember = (cluster: string): boolean => cluster !== 'hub'
  const brought = broughtBy(modules)
  return {
    name: 'composed',
    options: {
      members: MEMBERS.length,
      nodes: 3,
      modules: configure(modules, fleet, FLEET_OPTIONS),
    },
    clusters: ['hub', ...MEMBERS],
    equip: brought.equip,
    before: [joinAll, brought.begin],
    generators: [
      ...onlyIn([...GENERATORS, ...FOREIGN_GENERATORS], isMember),
      ...onlyIn(FLEET_GENERATORS, (cluster) => !isMember(cluster)),
      ...brought.generators,
    ],
    focuses: brought.focuses,
    invariants: [...MEMBER_INVARIANTS, ...FLEET_INVARIANTS, ...brought.invariants],
    atRest: atRest(brought),
    cutOff: MEMBERS,
    patienceMs: patienceMs(brought),
    writesPerCause: 300,
    isPathless: false,
  }
}
