/** What the scheduler needs to know about a cluster, prepared once per change, so that a decision only needs look-ups. */
import { deepEqual } from '../../base/json.ts'
import type { ApiEnablement, Cluster, ResourceSummary, Taint } from '../../kinds/karmada/index.ts'
import type { ReadonlyAmounts } from '../../kube/amounts.ts'
import { PODS, remainderOf } from './amounts.ts'

export interface Capacity {
  /** Pods that can still be created. */
  readonly pods: number
  /** What is allocatable and neither allocated nor about to be. */
  readonly free: ReadonlyAmounts
}

export interface ClusterInfo {
  readonly name: string
  readonly cluster: Cluster
  readonly isDeleting: boolean
  /** `groupVersion/Kind` of everything it serves. */
  readonly apis: ReadonlySet<string>
  /** Those that keep new workloads away. */
  readonly taints: readonly Taint[]
  readonly provider: string
  readonly region: string
  readonly hasZones: boolean
  /** Undefined while the cluster has not reported its resources. */
  readonly capacity: Capacity | undefined
}

const NO_APIS: readonly ApiEnablement[] = []
const enablementsOf = (cluster: Cluster): readonly ApiEnablement[] => cluster.status?.apiEnablements ?? NO_APIS

/** `alike`: infos whose equal parts may be shared (of the cluster before the change, or of another one). */
export function infoOf(cluster: Cluster, ...alike: readonly (ClusterInfo | undefined)[]): ClusterInfo {
  const { metadata, spec, status } = cluster
  const enablements = enablementsOf(cluster)
  const same = alike.find((other) => other !== undefined && deepEqual(enablementsOf(other.cluster), enablements))
  return {
    name: metadata.name ?? '',
    cluster,
    isDeleting: metadata.deletionTimestamp !== undefined,
    apis: same?.apis ?? apisOf(enablements),
    taints: (spec?.taints ?? []).filter(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute'),
    provider: spec?.provider ?? '',
    region: spec?.region ?? '',
    hasZones: (spec?.zones ?? []).length > 0,
    capacity: capacityOf(status?.resourceSummary),
  }
}

export const apiKey = (groupVersion: string, kind: string): string => `${groupVersion}/${kind}`

function apisOf(enablements: readonly ApiEnablement[]): ReadonlySet<string> {
  const apis = new Set<string>()
  for (const { groupVersion, resources } of enablements) for (const { kind } of resources ?? []) apis.add(apiKey(groupVersion, kind))
  return apis
}

function capacityOf(summary: ResourceSummary | undefined): Capacity | undefined {
  if (summary === undefined) return undefined
  const free = remainderOf(summary.allocatable, summary.allocated, summary.allocating)
  return { pods: Math.max(0, free.get(PODS) ?? 0), free }
}
