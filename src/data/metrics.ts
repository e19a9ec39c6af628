/**
 * Fluid's metrics of datasets and runtimes, under its names, so that dashboards made for it keep working. Taken from what the
 * controllers write in statuses, with every event; series go with their objects, and their number is limited.
 */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Caches } from '../client/cache/caches.ts'
import type { CacheEvent } from '../client/cache/object-cache.ts'
import { type Dataset, runtimeKinds } from '../kinds/fluid/index.ts'
import { DATASETS } from '../kinds/fluid/resources.ts'
import { parseSize } from '../kinds/fluid/sizes.ts'
import { findCondition } from '../kube/conditions.ts'
import type { KubeObject } from '../kube/meta.ts'
import { keyOfObject } from '../kube/object-reference.ts'
import type { DeclaredMetrics } from '../runtime/module/module.ts'
import { SERVED_CONDITION } from './engines/engine.ts'

const OF_RUNTIME = ['runtime_type', 'runtime'] as const

const METRICS = {
  dataset_ufs_file_num: { type: 'gauge', labels: ['dataset'], help: 'Files of a dataset at its sources.' },
  dataset_ufs_total_size: { type: 'gauge', labels: ['dataset'], help: 'Bytes of a dataset at its sources, as exact as its status is.' },
  runtime_setup_error_total: { type: 'counter', labels: OF_RUNTIME, help: 'How often a runtime turned out not to be served.' },
  runtime_sync_healthcheck_error_total: {
    type: 'counter',
    labels: OF_RUNTIME,
    help: 'How often masters or workers of a runtime were ready and then were not.',
  },
} as const

export const DATA_METRICS: DeclaredMetrics = {
  heading: 'Of datasets, as Fluid names them',
  intro:
    'On members. `dataset` and `runtime` are `namespace/name`, `runtime_type` is the kind in lower case. A series goes with its object; a figure that is not known has none, and of more than 5,000 objects of a kind some have none.',
  declared: METRICS,
}

/** Objects that have series, of datasets and of each kind of runtime. */
const MOST_OBJECTS = 5000

export function dataMetrics(registry: Registry, caches: Pick<Caches, 'of'>): void {
  const options = (name: keyof typeof METRICS) => ({
    name,
    help: METRICS[name].help,
    labelNames: [...METRICS[name].labels],
    registers: [registry],
  })
  const gauges = [
    { gauge: new Gauge(options('dataset_ufs_file_num')), of: fileNumberOf },
    { gauge: new Gauge(options('dataset_ufs_total_size')), of: totalSizeOf },
  ]
  follow(caches, DATASETS, ({ type, object }) => {
    const dataset = keyOfObject(object)
    for (const { gauge, of } of gauges) {
      const value = type === 'deleted' ? undefined : of(object as Dataset)
      if (value === undefined) gauge.remove({ dataset })
      else gauge.set({ dataset }, value)
    }
  })
  const counters = [
    { counter: new Counter(options('runtime_setup_error_total')), isNew: isNewlyRefused },
    { counter: new Counter(options('runtime_sync_healthcheck_error_total')), isNew: isNewlyUnhealthy },
  ]
  for (const { resource, kind } of runtimeKinds)
    follow(caches, resource, ({ type, object, old }) => {
      const labels = { runtime_type: kind.toLowerCase(), runtime: keyOfObject(object) }
      for (const { counter, isNew } of counters) {
        if (type === 'deleted') counter.remove(labels)
        else if (isNew(object, old)) counter.inc(labels)
      }
    })
}

/** The first so many objects; one that comes later has its turn when another is gone and it changes. */
function follow(caches: Pick<Caches, 'of'>, resource: Parameters<Caches['of']>[0], handler: (event: CacheEvent) => void): void {
  const followed = new Set<string>()
  caches.of(resource).subscribe((event) => {
    const key = keyOfObject(event.object)
    if (event.type === 'deleted') {
      if (followed.delete(key)) handler(event)
      return
    }
    if (!followed.has(key) && followed.size >= MOST_OBJECTS) return
    followed.add(key)
    handler(event)
  })
}

/** Texts like `[Calculating]` are no figures yet. */
const fileNumberOf = ({ status }: Dataset): number | undefined =>
  /^\d{1,15}$/.test(status?.fileNum ?? '') ? Number(status?.fileNum) : undefined

const totalSizeOf = ({ status }: Dataset): number | undefined => parseSize(status?.ufsTotal ?? '')

interface Status {
  conditions?: { type: string; status: string; reason?: string }[]
  masterPhase?: string
  workerPhase?: string
  master?: { phase?: string }
  worker?: { phase?: string }
}

const statusOf = (runtime: KubeObject | undefined): Status => (runtime?.status ?? {}) as Status

function isNewlyRefused(runtime: KubeObject, old: KubeObject | undefined): boolean {
  const [now, before] = [runtime, old].map((one) => findCondition(statusOf(one).conditions, SERVED_CONDITION))
  return now?.status === 'False' && (before?.status !== 'False' || before.reason !== now.reason)
}

/** While a runtime starts nothing is ready, and nothing is wrong. */
function isNewlyUnhealthy(runtime: KubeObject, old: KubeObject | undefined): boolean {
  const [now, before] = [phasesOf(runtime), phasesOf(old)]
  return now.some((phase, i) => phase === 'NotReady' && (before[i] === 'Ready' || before[i] === 'PartialReady'))
}

/** Of masters and of workers. CacheRuntimes say it in another place. */
function phasesOf(runtime: KubeObject | undefined): (string | undefined)[] {
  const { masterPhase, workerPhase, master, worker } = statusOf(runtime)
  return [masterPhase ?? master?.phase, workerPhase ?? worker?.phase]
}
