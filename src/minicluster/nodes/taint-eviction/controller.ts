/**
 * Evicts pods from nodes with a NoExecute taint that they do not tolerate, or no longer. A toleration's time counts from
 * when the taint says it was added, or from when it was first seen. Sole writer of the condition DisruptionTarget with
 * reason DeletionByTaintManager. Runs again when the pod or such a node changes; time matters only for tolerationSeconds.
 */
import { NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import { isTolerated } from '../../../kinds/kubernetes/taints.ts'
import type { Node, Pod, Taint, Toleration } from '../../../kinds/kubernetes/types.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import {
  type Action,
  type Controller,
  defineController,
  indexOf,
  type KeyedEvent,
  NOTHING_TO_DO,
  type Plan,
  via,
} from '../../../runtime/controller.ts'
import { disruptedConditions } from '../disrupted.ts'

const COMPONENT = 'taint-eviction-controller'
const NODE = 'node'

export interface Observed {
  pod: Pod | undefined
  /** The NoExecute taints of its node. */
  taints: readonly Taint[]
  /** Since when this pod is known to be on a tainted node. */
  seenMs: number
  /** It was due for eviction: an event says so when that is cancelled. */
  wasDue: boolean
  nowMs: number
}

export function taintEviction(): Controller {
  /** By name, pods that are to be evicted: which, and when that was first seen. */
  const due = new Map<string, { uid: string | undefined; sinceMs: number }>()
  return defineController<Observed, Pod>({
    name: 'minicluster.nodes.taint-eviction',
    component: COMPONENT,
    for: PODS,
    watches: [
      via(NODES, (node, read) =>
        noExecuteTaints(node).length === 0
          ? []
          : read.byIndex(PODS, NODE, node.metadata.name ?? '').map(({ metadata: { namespace = '', name = '' } }) => ({ namespace, name })),
      ),
    ],
    indexes: [indexOf(PODS, NODE, ({ spec }) => ((spec?.nodeName ?? '') === '' ? [] : [spec?.nodeName ?? '']))],
    writes: [
      { resource: PODS, verbs: ['delete'] },
      { resource: PODS, subresource: 'status', verbs: ['patch'] },
    ],
    concurrency: 8,
    isRelevant({ metadata, spec }, read) {
      if (due.has(`${metadata.namespace}/${metadata.name}`)) return true
      if ((spec?.nodeName ?? '') === '') return false
      const node = read.get(NODES, '', spec?.nodeName ?? '')
      return node === undefined || noExecuteTaints(node).length > 0
    },
    observe({ namespace, name }, pod, read) {
      const nowMs = read.nowMs()
      const key = `${namespace}/${name}`
      const { uid } = pod?.metadata ?? {}
      const node = (pod?.spec?.nodeName ?? '') === '' ? undefined : read.get(NODES, '', pod?.spec?.nodeName ?? '')
      const before = due.get(key)
      const known = before !== undefined && before.uid === uid ? before : undefined
      const seenMs = known?.sinceMs ?? nowMs
      const observed = { pod, taints: node === undefined ? [] : noExecuteTaints(node), seenMs, wasDue: known !== undefined, nowMs }
      if (pod !== undefined && endsAtMs(observed) !== undefined) due.set(key, { uid, sinceMs: seenMs })
      else due.delete(key)
      return observed
    },
    plan,
  })
}

const noExecuteTaints = (node: Node): Taint[] => (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')

/** When the pod has to go; undefined when it may stay forever. */
function endsAtMs({ pod, taints, seenMs }: Observed): number | undefined {
  const tolerations = pod?.spec?.tolerations ?? []
  let first: number | undefined
  for (const taint of taints) {
    const toleration = tolerations.find((one) => isTolerated(taint, [one]))
    const atMs =
      toleration === undefined ? seenMs : tolerationEndMs(toleration, Math.max(timeToMs(taint.timeAdded) ?? seenMs, boundMs(pod)))
    if (atMs !== undefined && (first === undefined || atMs < first)) first = atMs
  }
  return first
}

const tolerationEndMs = ({ tolerationSeconds }: Toleration, sinceMs: number): number | undefined =>
  tolerationSeconds === undefined ? undefined : sinceMs + Math.max(0, tolerationSeconds) * 1000

/** A taint older than the pod's binding counts from the binding. */
function boundMs(pod: Pod | undefined): number {
  const scheduled = pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return timeToMs(scheduled?.lastTransitionTime) ?? timeToMs(pod?.metadata.creationTimestamp) ?? 0
}

export function plan(observed: Observed): Plan {
  const { pod, wasDue, nowMs } = observed
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const atMs = endsAtMs(observed)
  if (atMs === undefined) return wasDue ? { actions: [], events: [sparedEvent(pod, observed.seenMs)] } : NOTHING_TO_DO
  return atMs > nowMs ? { actions: [], requeueAfterMs: atMs - nowMs } : { actions: evict(pod, nowMs) }
}

function evict(pod: Pod, nowMs: number): Action[] {
  const why = { reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint', nowMs }
  const conditions = disruptedConditions(pod, why)
  const marks: Action[] =
    conditions === undefined ? [] : [{ do: 'patch', resource: PODS, of: pod, patch: { status: { conditions } }, subresource: 'status' }]
  const message = `Marking for deletion Pod ${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''}`
  return [...marks, { do: 'delete', resource: PODS, of: pod, events: { of: pod, type: 'Normal', reason: 'TaintManagerEviction', message } }]
}

/** A cancelled eviction changes nothing on the pod. */
function sparedEvent(pod: Pod, sinceMs: number): KeyedEvent {
  const message = `Cancelling deletion of Pod ${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''}`
  return { key: `spared since ${sinceMs}`, of: pod, type: 'Normal', reason: 'TaintManagerEviction', message }
}
