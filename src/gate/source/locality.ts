/**
 * Where the data of a source is, and whether it can be used there. The same answer on a source and on its claims. Found
 * through indexes: only an affinity without names makes anybody look at all clusters.
 */

import { deepEqual } from '../../base/json.ts'
import type { Cluster, ClusterAffinity } from '../../kinds/karmada/index.ts'
import { CLUSTERS } from '../../kinds/karmada/resources.ts'
import { CLUSTER_READY } from '../../kinds/karmada/well-known.ts'
import type { DataSource } from '../../kinds/volcano/index.ts'
import { clustersOf } from '../../kinds/volcano/matching.ts'
import { DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { isConditionTrue } from '../../kube/conditions.ts'
import { type Index, indexOf, type Reader } from '../../runtime/controller.ts'

/** What a condition says. */
export interface Verdict {
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
}

type Locality = { clusterNames?: readonly string[]; clusterAffinity?: ClusterAffinity }

/** Those that a locality can select among, by name; undefined: any. */
function namedBy({ clusterNames = [], clusterAffinity }: Locality): readonly string[] | undefined {
  if (clusterAffinity === undefined || clusterNames.length > 0) return clusterNames
  const { clusterNames: names = [] } = clusterAffinity
  return names.length > 0 ? names : undefined
}

const localityOf = (source: DataSource): Locality => source.spec?.locality ?? {}

/** The clusters that decide where a source is: enough for `clustersOf`. */
export function clustersFor(source: DataSource, read: Reader): readonly Cluster[] {
  const names = namedBy(localityOf(source))
  if (names === undefined) return read.list(CLUSTERS)
  return [...new Set(names)].flatMap((name) => read.get(CLUSTERS, '', name) ?? [])
}

const BY_CLUSTER = 'cluster'
/** No cluster has this name. */
const ANY = '*'

/** Needed by `sourcesAbout`. */
export const sourcesByCluster: Index = indexOf(DATA_SOURCES, BY_CLUSTER, (source) => namedBy(localityOf(source)) ?? [ANY])

/** The sources whose place a change of this cluster may concern. */
export const sourcesAbout = (cluster: Cluster, read: Reader): readonly DataSource[] => [
  ...read.byIndex(DATA_SOURCES, BY_CLUSTER, cluster.metadata.name ?? ''),
  ...read.byIndex(DATA_SOURCES, BY_CLUSTER, ANY),
]

/** Clusters report their capacity all the time: only what an affinity and `readiness` look at matters. */
export function isRelevantCluster(old: Cluster, cluster: Cluster): boolean {
  const traits = ({ metadata, spec }: Cluster): unknown => [
    metadata.deletionTimestamp !== undefined,
    metadata.labels ?? {},
    spec?.provider,
    spec?.region,
    spec?.zones,
  ]
  return isReady(old) !== isReady(cluster) || !deepEqual(traits(old), traits(cluster))
}

/** One that is leaving takes no new work. */
const isReady = ({ metadata, status }: Cluster): boolean =>
  metadata.deletionTimestamp === undefined && isConditionTrue(status?.conditions, CLUSTER_READY)

/** Whether the data is in a cluster that is joined and ready. The text of a good answer never changes. */
export function readiness(source: DataSource, clusters: readonly Cluster[]): Verdict {
  const { named, joined } = clustersOf(source, clusters)
  const name = `DataSource ${source.metadata.name}`
  if (joined.length === 0)
    return {
      status: 'False',
      reason: 'NoLocality',
      message: named.length === 0 ? `${name} selects no joined cluster` : `no cluster of ${name} is joined: ${listed(named)}`,
    }
  const isIn = new Set(joined)
  const isAnyReady = clusters.some((cluster) => isIn.has(cluster.metadata.name ?? '') && isReady(cluster))
  if (!isAnyReady)
    return { status: 'False', reason: 'DataClusterUnavailable', message: `no cluster of ${name} is ready: ${listed(joined)}` }
  return { status: 'True', reason: 'Available', message: `${name} is in a cluster that is ready` }
}

const MOST_LISTED = 10

/** The first of them: a message is for people. */
export const listed = (names: readonly string[]): string =>
  names.length <= MOST_LISTED ? names.join(', ') : `${names.slice(0, MOST_LISTED).join(', ')} and others`
