/** What is read from caches and queues at scrape time. */
import type { Caches } from '../../client/cache/caches.ts'
import type { Binding, Cluster } from '../../kinds/karmada/index.ts'
import { CLUSTER_RESOURCE_BINDINGS, CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { SCHEDULED } from '../../kinds/karmada/well-known.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { Resource } from '../../kube/resource.ts'
import { CLUSTER_GAUGES } from './cluster-gauges.ts'
import { type Labels, MEMBER_LABEL, type Series } from './series.ts'

interface Readable {
  caches(): Caches | undefined
  queues: ReadonlyMap<string, () => { depth: number; retrying: number }>
  evictions(): Iterable<string>
}

export function readAtScrape(series: Series, { caches, queues, evictions }: Readable): void {
  const clusters = (): readonly Cluster[] => (caches()?.known(CLUSTERS)?.list() ?? []) as Cluster[]
  for (const [name, of] of CLUSTER_GAUGES)
    series.read(name, () => {
      if (name === 'cluster_ready_state') forgetGone(series, caches())
      return clusters().flatMap(({ metadata, status }): [Labels, number][] => {
        const value = status === undefined ? undefined : of(status)
        return value === undefined ? [] : [[{ [MEMBER_LABEL]: metadata.name ?? '' }, value]]
      })
    })
  series.read('scheduler_pending_bindings', () => {
    const sum = (of: 'depth' | 'retrying'): number => [...queues.values()].reduce((total, read) => total + read()[of], 0)
    return [
      [{ queue: 'active' }, sum('depth')],
      [{ queue: 'backoff' }, sum('retrying')],
      [{ queue: 'unschedulable' }, unschedulable(caches())],
    ]
  })
  series.read('eviction_queue_depth', () => {
    const waiting = [...evictions()]
    const depth = ({ plural }: Resource): number => waiting.filter((key) => key.startsWith(`${plural} `)).length
    return [
      [{ name: 'binding-eviction' }, depth(RESOURCE_BINDINGS)],
      [{ name: 'cluster-binding-eviction' }, depth(CLUSTER_RESOURCE_BINDINGS)],
    ]
  })
  series.read('eviction_kind_total', () => evictionsByCluster(evictions(), caches()))
}

/** Otherwise the series of a deleted cluster would be exposed for ever. */
function forgetGone(series: Series, caches: Caches | undefined): void {
  const clusters = caches?.known(CLUSTERS)
  if (clusters?.hasSynced !== true) return
  for (const name of [...series.clusters()]) if (clusters.get('', name) === undefined) series.forget(name)
}

const BINDINGS = [RESOURCE_BINDINGS, CLUSTER_RESOURCE_BINDINGS] as const

function unschedulable(caches: Caches | undefined): number {
  const count = (resource: Resource): number =>
    ((caches?.known(resource)?.list() ?? []) as Binding[]).filter(
      ({ status }) => findCondition(status?.conditions, SCHEDULED)?.status === 'False',
    ).length
  return BINDINGS.reduce((sum, resource) => sum + count(resource), 0)
}

function evictionsByCluster(waiting: Iterable<string>, caches: Caches | undefined): [Labels, number][] {
  const counts = new Map<string, { labels: Labels; count: number }>()
  for (const key of waiting) {
    const [plural = '', namespace = '', name = ''] = key.split(/[ /]/)
    const resource = BINDINGS.find((one) => one.plural === plural)
    const binding = resource === undefined ? undefined : (caches?.known(resource)?.get(namespace, name) as Binding | undefined)
    for (const { name: cluster } of binding?.spec.clusters ?? []) {
      if (!isLeft(cluster, caches)) continue
      const labels = { [MEMBER_LABEL]: cluster, resource_kind: resource?.kind ?? '' }
      const entry = counts.get(JSON.stringify(labels)) ?? { labels, count: 0 }
      entry.count++
      counts.set(JSON.stringify(labels), entry)
    }
  }
  return [...counts.values()].map(({ labels, count }) => [labels, count])
}

const isLeft = (cluster: string, caches: Caches | undefined): boolean =>
  (caches?.known(CLUSTERS)?.get('', cluster) as Cluster | undefined)?.spec?.taints?.some(({ effect }) => effect === 'NoExecute') === true
