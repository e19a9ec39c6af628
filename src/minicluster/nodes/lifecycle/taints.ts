/** Which taints of a node follow from its conditions, and the resulting list of taints. Others' taints stay. Pure. */
import { formatTime } from '../../../base/clock.ts'
import type { Node, Taint } from '../../../kinds/kubernetes/types.ts'
import { readyConditionOf } from './health.ts'

const NOT_READY = 'node.kubernetes.io/not-ready'
const UNREACHABLE = 'node.kubernetes.io/unreachable'
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable'

/** Condition, its status, the taint. */
const BY_CONDITION = new Map<string, string>([
  ['Ready False', NOT_READY],
  ['Ready Unknown', UNREACHABLE],
  ['MemoryPressure True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure True', 'node.kubernetes.io/disk-pressure'],
  ['NetworkUnavailable True', 'node.kubernetes.io/network-unavailable'],
  ['PIDPressure True', 'node.kubernetes.io/pid-pressure'],
])
const OWN_NO_SCHEDULE = new Set([...BY_CONDITION.values(), UNSCHEDULABLE])
const OWN_NO_EXECUTE = new Set([NOT_READY, UNREACHABLE])

/** How widespread the failure is: in a cluster or zone that is mostly down, pods are not evicted. */
export type Disruption = 'none' | 'partial' | 'full'

export interface Neighbourhood {
  /** Nodes of the same zone, this one included. */
  inZone: { ready: number; notReady: number }
  /** Whether any node of the cluster is ready. */
  isAnyReady: boolean
}

const UNHEALTHY_SHARE = 0.55
const LARGE_ZONE = 50

/** As in Kubernetes: no node is ready anywhere; or more than two and more than half of a small zone are not. */
export function disruptionOf({ inZone: { ready, notReady }, isAnyReady }: Neighbourhood): Disruption {
  if (!isAnyReady) return 'full'
  const isPartial = ready > 0 && notReady > 2 && notReady / (ready + notReady) >= UNHEALTHY_SHARE
  return isPartial && ready + notReady <= LARGE_ZONE ? 'partial' : 'none'
}

/** The list of taints the node should have; the same array when nothing changes. */
export function taintsFor(node: Node, disruption: Disruption, nowMs: number): readonly Taint[] {
  const held = node.spec?.taints ?? []
  const wanted = [...noScheduleOf(node), ...noExecuteOf(node, held, disruption)]
  const kept = held.filter((taint) => !isOwn(taint) || wanted.some((one) => isSame(one, taint)))
  const added = wanted.filter((one) => !held.some((taint) => isSame(one, taint)))
  if (added.length === 0 && kept.length === held.length) return held
  const timeAdded = formatTime(nowMs)
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded }))]
}

function noScheduleOf(node: Node): Taint[] {
  const keys = (node.status?.conditions ?? []).flatMap(({ type, status }) => BY_CONDITION.get(`${type ?? ''} ${status ?? ''}`) ?? [])
  if (node.spec?.unschedulable === true) keys.push(UNSCHEDULABLE)
  return [...new Set(keys)].map((key) => ({ key, effect: 'NoSchedule' }))
}

function noExecuteOf(node: Node, held: readonly Taint[], disruption: Disruption): Taint[] {
  const status = readyConditionOf(node)?.status
  const own = held.filter(({ key, effect }) => effect === 'NoExecute' && OWN_NO_EXECUTE.has(key ?? ''))
  // There is no Ready condition: earlier taints stay.
  if (status === undefined) return own
  const key = status === 'False' ? NOT_READY : status === 'Unknown' ? UNREACHABLE : undefined
  if (key === undefined || disruption === 'full') return []
  // In a zone that is half down no further node is tainted; one that already is only changes its key.
  return disruption === 'partial' && own.length === 0 ? [] : [{ key, effect: 'NoExecute' }]
}

const isOwn = ({ key = '', effect }: Taint): boolean =>
  (effect === 'NoSchedule' && OWN_NO_SCHEDULE.has(key)) || (effect === 'NoExecute' && OWN_NO_EXECUTE.has(key))

const isSame = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect
