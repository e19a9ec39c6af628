/**
 * The whole system: a hub with its fleet and three members with all their controllers and simulated nodes, and users acting
 * in all of them.
 */

import { fleet } from '../../../fleet/module.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { MODULES } from '../../../modules.ts'
import { configure } from '../../../runtime/module/configure.ts'
import type { Module } from '../../../runtime/module/module.ts'
import type { Generator, Invariant, RestInvariant } from '../../../runtime/seams/seeded.ts'
import { viewOf } from '../../prover/invariant-monitor.ts'
import type { WorldCluster } from '../../world/index.ts'
import { FLEET_GENERATORS, FOREIGN_GENERATORS } from '../generators/fleet/index.ts'
import { GENERATORS } from '../generators/index.ts'
import type { SeededWorld } from '../seeded-world.ts'
import { isUnfinished, wrongAtRest } from './fleet/at-rest.ts'
import { FLEET_INVARIANTS } from './fleet/invariants.ts'
import { joinAll, MEMBERS } from './fleet/joined.ts'

const whereOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`

const INVARIANTS: readonly Invariant[] = [
  {
    says: 'a volume belongs to one claim',
    about: ['persistentvolumeclaims'],
    broken(objects) {
      const owners = new Map<string, string>()
      for (const claim of objects.list('persistentvolumeclaims')) {
        const { volumeName } = (claim.spec ?? {}) as { volumeName?: string }
        if (volumeName === undefined) continue
        const other = owners.get(volumeName)
        if (other !== undefined) return `${volumeName} is claimed by ${other} and ${whereOf(claim)}`
        owners.set(volumeName, whereOf(claim))
      }
      return undefined
    },
  },
  {
    says: 'a pod stays on its node',
    about: ['pods', 'nodes'],
    broken(objects) {
      const nodes = new Set(objects.list('nodes').map((node) => node.metadata.name))
      const lost = objects.list('pods').find((pod) => {
        const { nodeName } = (pod.spec ?? {}) as { nodeName?: string }
        return nodeName !== undefined && nodeName !== '' && !nodes.has(nodeName)
      })
      return lost === undefined ? undefined : whereOf(lost)
    },
  },
  ...FLEET_INVARIANTS,
]

/** Failover settings that keep a seed short. */
const FLEET_OPTIONS = { failover: { evictionsPerSecond: 10, gracefulEvictionTimeoutSeconds: 30 } }
/** A cluster counts as ready again after half a minute, and its free capacity is reported periodically. */
const CLUSTERS_MS = 45_000
/** A refused Work is retried after five minutes at the latest. */
const WORKS_MS = 310_000

function patienceMs(all: readonly WorldCluster[], waitedMs: number): number {
  if (waitedMs === 0) return CLUSTERS_MS
  const hub = all.find(({ name }) => name === 'hub')
  return waitedMs < WORKS_MS && hub !== undefined && isUnfinished(viewOf(hub.store)) ? WORKS_MS : 0
}

const onlyIn = (generators: readonly Generator[], isFor: (cluster: string) => boolean): Generator[] =>
  generators.map((generator) => ({ ...generator, isFor }))

const atRest =
  (invariants: readonly RestInvariant[]) =>
  async ({ name, store }: WorldCluster, all: readonly WorldCluster[]): Promise<void> => {
    if (name !== 'hub') return
    const hub = viewOf(store)
    const members = new Map(all.filter((one) => one.name !== name).map((one) => [one.name, viewOf(one.store)]))
    const broken = invariants.flatMap((invariant) => {
      const wrong = invariant.broken(hub, members)
      return wrong === undefined ? [] : [`"${invariant.says}" does not hold: ${wrong}`]
    })
    const wrong = [...wrongAtRest({ hub, members }), ...broken]
    if (wrong.length > 0) throw new Error(wrong.join('; '))
  }

const runsIn = ({ roles }: Module, cluster: string): boolean => roles.includes(cluster === 'hub' ? 'hub' : 'member')

/** What each module contributes, to the clusters it runs in. */
const broughtBy = (modules: readonly Module[]): Generator[][] =>
  modules
    .map((module) => (module.seeded?.generators ?? []).map((one) => ({ isFor: (cluster: string) => runsIn(module, cluster), ...one })))
    .filter((generators) => generators.length > 0)

const beginningWith =
  (modules: readonly Module[]) =>
  async (cluster: WorldCluster): Promise<void> => {
    for (const module of modules)
      if (runsIn(module, cluster.name)) for (const object of module.seeded?.beginning ?? []) await cluster.create(object)
  }

export function composedWorld(modules: readonly Module[] = MODULES): SeededWorld {
  const isMember = (cluster: string): boolean => cluster !== 'hub'
  const brought = broughtBy(modules)
  return {
    name: 'composed',
    options: {
      members: MEMBERS.length,
      nodes: 2,
      modules: configure(modules, fleet, FLEET_OPTIONS),
    },
    clusters: ['hub', ...MEMBERS],
    before: [joinAll, beginningWith(modules)],
    generators: [
      ...onlyIn([...GENERATORS, ...FOREIGN_GENERATORS], isMember),
      ...onlyIn(FLEET_GENERATORS, (cluster) => !isMember(cluster)),
      ...brought.flat(),
    ],
    focuses: brought,
    invariants: [...INVARIANTS, ...modules.flatMap(({ seeded }) => seeded?.invariants ?? [])],
    atRest: atRest(modules.flatMap(({ seeded }) => seeded?.atRest ?? [])),
    cutOff: MEMBERS,
    patienceMs,
    writesPerCause: 300,
    isPathless: false,
  }
}
