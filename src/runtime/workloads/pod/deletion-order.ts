/**
 * Which pods are deleted first when there are too many, as in kube-controller-manager: those that do the least and have
 * done it for the shortest time. A total order: the same pods always come in the same order.
 */
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import { isPodReady, podReadySinceMs } from './state.ts'

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'

export interface DeletionOrder {
  /** For ReplicaSets: the cost annotation and related pods on the same node count, and ages are compared by magnitude. */
  replicas?: {
    nowMs: number
    /** More related active pods on the same node: earlier. */
    rankOf(pod: Pod): number
  }
}

interface Candidate {
  pod: Pod
  isAssigned: boolean
  phase: number
  isReady: boolean
  cost: number
  rank: number
  readyMs: number | undefined
  restarts: number
  sidecarRestarts: number
  createdMs: number | undefined
}

/** A new list, the first to be deleted first. */
export function inDeletionOrder(pods: readonly Pod[], { replicas }: DeletionOrder = {}): Pod[] {
  const candidates = pods.map((pod): Candidate => {
    const { regular, sidecar } = maxRestarts(pod)
    return {
      pod,
      isAssigned: (pod.spec?.nodeName ?? '') !== '',
      phase: pod.status?.phase === 'Running' ? 2 : pod.status?.phase === 'Unknown' ? 1 : 0,
      isReady: isPodReady(pod),
      cost: replicas === undefined ? 0 : deletionCost(pod),
      rank: replicas?.rankOf(pod) ?? 0,
      readyMs: podReadySinceMs(pod),
      restarts: regular,
      sidecarRestarts: sidecar,
      createdMs: timeToMs(pod.metadata.creationTimestamp),
    }
  })
  return candidates.sort((a, b) => compare(a, b, replicas?.nowMs)).map(({ pod }) => pod)
}

function compare(a: Candidate, b: Candidate, nowMs: number | undefined): number {
  return (
    Number(a.isAssigned) - Number(b.isAssigned) ||
    a.phase - b.phase ||
    Number(a.isReady) - Number(b.isReady) ||
    a.cost - b.cost ||
    b.rank - a.rank ||
    (a.isReady && b.isReady ? youngerFirst(a, b, { timeOf: (one) => one.readyMs, nowMs }) : 0) ||
    b.restarts - a.restarts ||
    b.sidecarRestarts - a.sidecarRestarts ||
    youngerFirst(a, b, { timeOf: (one) => one.createdMs, nowMs }) ||
    byUid(a, b)
  )
}

/** Ages of the same magnitude (power of two) are equal, so that with no other difference between pods, the uid decides. */
function youngerFirst(
  a: Candidate,
  b: Candidate,
  { timeOf, nowMs }: { timeOf(one: Candidate): number | undefined; nowMs: number | undefined },
): number {
  const [first, second] = [timeOf(a), timeOf(b)]
  if (first === second) return 0
  if (first === undefined) return -1
  if (second === undefined) return 1
  if (nowMs === undefined) return second - first
  return magnitude(nowMs - first) - magnitude(nowMs - second)
}

/** Integer part of the binary logarithm of the nanoseconds. */
const magnitude = (ms: number): number => (ms > 0 ? Math.trunc(Math.log2(ms * 1e6)) : -1)

const byUid = (a: Candidate, b: Candidate): number => compareStrings(a.pod.metadata.uid ?? '', b.pod.metadata.uid ?? '')

/** An int32; anything else counts as 0. */
function deletionCost(pod: Pod): number {
  const { annotations } = pod.metadata
  const text = annotations !== undefined && Object.hasOwn(annotations, DELETION_COST) ? (annotations[DELETION_COST] ?? '') : ''
  if (!/^(0|-[0-9]{1,10}|[1-9][0-9]{0,9})$/.test(text)) return 0
  const cost = Number(text)
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0
}

function maxRestarts(pod: Pod): { regular: number; sidecar: number } {
  const sidecars = new Set((pod.spec?.initContainers ?? []).filter((one) => one.restartPolicy === 'Always').map((one) => one.name))
  const most = (statuses: readonly { restartCount?: number }[]): number =>
    statuses.reduce((max, { restartCount = 0 }) => Math.max(max, restartCount), 0)
  return {
    regular: most(pod.status?.containerStatuses ?? []),
    sidecar: most((pod.status?.initContainerStatuses ?? []).filter((status) => sidecars.has(status.name))),
  }
}
