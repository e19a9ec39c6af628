/**
 * Whether a node is alive: a kubelet renews its Lease, and when it has not for 50 seconds its conditions become Unknown.
 * A node without a Lease has no heartbeat to miss; one that never reported anything gets a minute. Pure.
 */
import { formatTime } from '../../../base/clock.ts'
import type { Lease, Node, NodeCondition } from '../../../kinds/kubernetes/types.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import { isSimulated } from '../../shape.ts'

const MONITOR_GRACE_MS = 50_000
const STARTUP_GRACE_MS = 60_000

const MONITORED = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

export interface Signs {
  node: Node
  lease: Lease | undefined
  /** Since when this process watches: heartbeats missed before that do not count. */
  watchedSinceMs: number
  nowMs: number
}

export const readyConditionOf = (node: Node): NodeCondition | undefined =>
  (node.status?.conditions ?? []).find((condition) => condition.type === 'Ready')

export const isNodeReady = (node: Node): boolean => readyConditionOf(node)?.status === 'True'

/** When the node is declared unresponsive, if it stays silent; undefined when it has no heartbeat. */
export function givenUpAtMs({ node, lease, watchedSinceMs }: Omit<Signs, 'nowMs'>): number | undefined {
  if (isSimulated(node)) return undefined
  const ready = readyConditionOf(node)
  if (lease === undefined && ready !== undefined) return undefined
  // A status report is a heartbeat too. A node that never reported gets a minute, and another with each renewal of its Lease.
  const signs = [lease?.spec?.renewTime, ready?.lastHeartbeatTime, ready === undefined ? node.metadata.creationTimestamp : undefined]
  const lastContactMs = Math.max(watchedSinceMs, ...signs.map((time) => timeToMs(time) ?? 0))
  return lastContactMs + (ready === undefined ? STARTUP_GRACE_MS : MONITOR_GRACE_MS)
}

/** The conditions of an unresponsive node; undefined when it has them already. */
export function unknownConditions(node: Node, nowMs: number): NodeCondition[] | undefined {
  const now = formatTime(nowMs)
  const conditions = [...(node.status?.conditions ?? [])]
  for (const type of MONITORED) {
    const at = conditions.findIndex((condition) => condition.type === type)
    const old = conditions[at]
    if (old === undefined)
      conditions.push({
        type,
        status: 'Unknown',
        lastHeartbeatTime: node.metadata.creationTimestamp ?? undefined,
        lastTransitionTime: now,
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
      })
    else if (old.status !== 'Unknown')
      conditions[at] = {
        ...old,
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastTransitionTime: now,
      }
  }
  // Once Ready is Unknown, the other conditions are left to the node.
  const ready = readyConditionOf(node)
  return ready?.status === 'Unknown' ? undefined : conditions
}
