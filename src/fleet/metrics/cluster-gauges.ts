/** What Clusters report in their status, as numbers. Pure. */
import type { Cluster } from '../../kinds/karmada/index.ts'
import { CLUSTER_READY } from '../../kinds/karmada/well-known.ts'
import { isConditionTrue } from '../../kube/conditions.ts'
import { scaledValue, tryParseQuantity } from '../../kube/quantity.ts'
import type { KarmadaMetric } from './declared.ts'

type OfCluster = (status: NonNullable<Cluster['status']>) => number | undefined

const amountOf =
  (of: 'allocatable' | 'allocated', resource: string): OfCluster =>
  ({ resourceSummary }) => {
    const list = resourceSummary?.[of]
    if (list === undefined || list === null) return undefined
    const quantity = Object.hasOwn(list, resource) ? tryParseQuantity(list[resource] as string).value : undefined
    return quantity === undefined ? 0 : Number(scaledValue(quantity, -3)) / 1000
  }

/** Undefined where a cluster does not report it. */
export const CLUSTER_GAUGES: readonly (readonly [KarmadaMetric, OfCluster])[] = [
  ['cluster_ready_state', ({ conditions }) => (isConditionTrue(conditions, CLUSTER_READY) ? 1 : 0)],
  ['cluster_node_number', ({ nodeSummary }) => nodeSummary && (nodeSummary.totalNum ?? 0)],
  ['cluster_ready_node_number', ({ nodeSummary }) => nodeSummary && (nodeSummary.readyNum ?? 0)],
  ['cluster_memory_allocatable_bytes', amountOf('allocatable', 'memory')],
  ['cluster_cpu_allocatable_number', amountOf('allocatable', 'cpu')],
  ['cluster_pod_allocatable_number', amountOf('allocatable', 'pods')],
  ['cluster_memory_allocated_bytes', amountOf('allocated', 'memory')],
  ['cluster_cpu_allocated_number', amountOf('allocated', 'cpu')],
  ['cluster_pod_allocated_number', amountOf('allocated', 'pods')],
]
