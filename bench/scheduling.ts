/**
 * Scheduling decisions per second and core, over fleets of different sizes, for each strategy: from the binding as the cache
 * holds it to the decision with its reasons. Every decision is about a binding that was not seen before; a third of them
 * are in some clusters already and grow. Clusters are prepared once, as the controller keeps them.
 */

import { ClusterIndex } from '../src/fleet/scheduler/cluster-index.ts'
import { recordText } from '../src/fleet/scheduler/decision.ts'
import { demandOf } from '../src/fleet/scheduler/demand.ts'
import { InFlightIndex } from '../src/fleet/scheduler/in-flight.ts'
import { schedule } from '../src/fleet/scheduler/schedule.ts'
import type { Binding, Cluster, Placement } from '../src/kinds/karmada/index.ts'

export interface SchedulingFigure {
  clusters: number
  strategy: string
  /** Of one core: other work on the machine does not count. */
  perSecond: number
  cpuMs: number
  medianMs: number
  p99Ms: number
  /** Decisions that found a place, out of all that were measured. */
  scheduled: number
  decisions: number
}

export interface SchedulingOptions {
  sizes?: readonly number[]
  /** How long each row is measured (default 1 s). */
  forMs?: number
}

const REGIONS = 12
const KINDS = 150
const WARM_UP = 300
const MAX_DECISIONS = 20_000
/** Bindings in flight during the measurement. */
const IN_FLIGHT = 500

const divided = (replicaDivisionPreference: 'Aggregated' | 'Weighted', more: object = {}): Placement['replicaScheduling'] => ({
  replicaSchedulingType: 'Divided',
  replicaDivisionPreference,
  ...more,
})
const DYNAMIC = divided('Weighted', { weightPreference: { dynamicWeight: 'AvailableReplicas' as const } })
const clusterAffinity = { labelSelector: { matchLabels: { stage: 'prod' } } }

const STRATEGIES: Readonly<Record<string, Placement>> = {
  Duplicated: { clusterAffinity, replicaScheduling: { replicaSchedulingType: 'Duplicated' } },
  'static weight': {
    clusterAffinity,
    replicaScheduling: divided('Weighted', {
      weightPreference: {
        staticWeightList: [1, 2, 3].map((weight) => ({
          targetCluster: { labelSelector: { matchLabels: { pool: `p${weight}` } } },
          weight,
        })),
      },
    }),
  },
  'dynamic weight': { clusterAffinity, replicaScheduling: DYNAMIC },
  Aggregated: { clusterAffinity, replicaScheduling: divided('Aggregated') },
  'dynamic weight, 2 to 5 clusters': {
    clusterAffinity,
    replicaScheduling: DYNAMIC,
    spreadConstraints: [{ spreadByField: 'cluster', minGroups: 2, maxGroups: 5 }],
  },
  'Duplicated, 2 to 3 regions': {
    clusterAffinity,
    spreadConstraints: [
      { spreadByField: 'region', minGroups: 2, maxGroups: 3 },
      { spreadByField: 'cluster', minGroups: 2, maxGroups: 6 },
    ],
  },
  'groups of clusters with overflow': {
    clusterAffinities: [
      {
        affinityName: 'own',
        labelSelector: { matchLabels: { pool: 'p1' } },
        overflowAffinities: [{ affinityName: 'rented', labelSelector: { matchLabels: { pool: 'p2' } } }],
      },
    ],
    replicaScheduling: DYNAMIC,
  },
}

export function measureScheduling({ sizes = [10, 100, 1000, 5000], forMs = 1000 }: SchedulingOptions = {}): SchedulingFigure[] {
  return sizes.flatMap((size) => {
    const index = new ClusterIndex()
    for (let i = 0; i < size; i++) index.follow(`c${i}`, clusterOf(i))
    return Object.entries(STRATEGIES).map(([strategy, placement]) => measure({ index, strategy, placement, forMs, size }))
  })
}

interface Row {
  index: ClusterIndex
  strategy: string
  placement: Placement
  forMs: number
  size: number
}

function measure({ index, strategy, placement, forMs, size }: Row): SchedulingFigure {
  const inFlight = new InFlightIndex()
  for (let i = 0; i < IN_FLIGHT; i++) {
    const binding = bindingOf(i, placement, size)
    const clusters = [{ name: `c${i % size}`, replicas: 2 }]
    inFlight.decided(`bench/other-${i}`, demandOf(binding, placement), { clusters, generation: 2, nowMs: 0 })
  }
  const times: number[] = []
  let scheduled = 0
  let spentMs = 0
  let cpu = process.cpuUsage()
  for (let i = 0; spentMs < forMs && times.length < MAX_DECISIONS; i++) {
    if (i === WARM_UP) cpu = process.cpuUsage()
    const binding = bindingOf(i, placement, size)
    const begun = performance.now()
    const decision = schedule({ clusters: index.clusters, inFlight: inFlight.of }, demandOf(binding, placement))
    const record = recordText(decision, 2)
    const tookMs = performance.now() - begun
    if (record === '') throw new Error('a decision without a record')
    if (i < WARM_UP) continue
    times.push(tookMs)
    spentMs += tookMs
    if (decision.reason === 'Success') scheduled++
  }
  const { user, system } = process.cpuUsage(cpu)
  const cpuMs = (user + system) / 1000 / times.length
  times.sort((a, b) => a - b)
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
  return {
    clusters: size,
    strategy,
    perSecond: 1000 / cpuMs,
    cpuMs,
    medianMs: at(0.5),
    p99Ms: at(0.99),
    scheduled,
    decisions: times.length,
  }
}

const APIS = Array.from({ length: KINDS }, (_, i) => ({
  groupVersion: i === 0 ? 'apps/v1' : `group${i % 40}.example.com/v1`,
  resources: [{ kind: i === 0 ? 'Deployment' : `Kind${i}`, name: `kind${i}s` }],
}))

/** Each slightly different: in free capacity and location, and one in twenty is tainted. */
function clusterOf(i: number): Cluster {
  const used = (i * 7919) % 60
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: `c${i}`, labels: { stage: i % 10 === 9 ? 'test' : 'prod', pool: `p${i % 4}`, index: String(i) } },
    spec: {
      syncMode: 'Push',
      provider: 'cloud',
      region: `r${i % REGIONS}`,
      zones: [`r${i % REGIONS}-a`],
      ...(i % 20 === 19 ? { taints: [{ key: 'cluster.karmada.io/not-ready', effect: 'NoSchedule' }] } : {}),
    },
    status: {
      apiEnablements: APIS,
      resourceSummary: {
        allocatable: { cpu: '128', memory: '512Gi', pods: '1100' },
        allocated: { cpu: String(used), memory: `${used * 4}Gi`, pods: String(used * 4) },
      },
    },
  }
}

function bindingOf(i: number, placement: Placement, size: number): Binding {
  const isGrowing = i % 3 === 0
  const first = (i * 31) % size
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name: `web-${i}-deployment`, namespace: 'bench', uid: `uid-${i}`, generation: 1 },
    spec: {
      resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'bench', name: `web-${i}`, uid: `template-${i}` },
      replicas: 10 + (i % 40),
      replicaRequirements: { resourceRequest: { cpu: '250m', memory: '512Mi' } },
      conflictResolution: 'Abort',
      placement,
      ...(isGrowing ? { clusters: [first, first + 4].map((at) => ({ name: `c${at % size}`, replicas: 4 })) } : {}),
    },
    status: { schedulerObservingAffinityName: placement.clusterAffinities?.[0]?.affinityName },
  }
}

/** As a table of docs/performance.md. */
export function schedulingTable(figures: readonly SchedulingFigure[]): string {
  const head = [
    '| clusters | strategy | decisions per second and core | ms of CPU | median ms | p99 ms |',
    '|---:|---|---:|---:|---:|---:|',
  ]
  const rows = figures.map(
    ({ clusters, strategy, perSecond, cpuMs, medianMs, p99Ms }) =>
      `| ${clusters.toLocaleString('en')} | ${strategy} | ${Math.round(perSecond).toLocaleString('en')} | ${cpuMs.toFixed(3)} | ${medianMs.toFixed(3)} | ${p99Ms.toFixed(3)} |`,
  )
  return [...head, ...rows].join('\n')
}
