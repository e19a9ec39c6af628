/**
 * Keeps at most 12,500 pods that have ended; beyond that evicted ones are deleted first, then the oldest. All of them are
 * handled together, under one key (the namespace kube-system stands for the cluster), and only when there are too many.
 */
import { NAMESPACES, PODS } from '../../../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../../../kinds/kubernetes/types.ts'
import { type Action, type Controller, defineController, indexOf, NOTHING_TO_DO, type Plan, via } from '../../../../runtime/controller.ts'
import { isPodTerminal } from '../../../../runtime/workloads/pod/state.ts'

const DEFAULT_THRESHOLD = 12_500
const CLUSTER = 'kube-system'
const ENDED = 'ended'

export interface Observed {
  /** Pods that have ended and are not being deleted, in no particular order. */
  ended: readonly Pod[]
  threshold: number
}

export function terminatedPods(threshold = DEFAULT_THRESHOLD): Controller {
  return defineController<Observed>({
    name: 'minicluster.nodes.pod-garbage.terminated',
    component: 'pod-garbage-collector-controller',
    for: NAMESPACES,
    watches: [via(PODS, (pod) => (hasEnded(pod) ? [{ namespace: '', name: CLUSTER }] : []))],
    indexes: [indexOf(PODS, ENDED, (pod) => (hasEnded(pod) ? [ENDED] : []))],
    writes: [{ resource: PODS, verbs: ['delete'] }],
    observe: ({ name }, _namespace, read) => ({ ended: name === CLUSTER ? read.byIndex(PODS, ENDED, ENDED) : [], threshold }),
    plan,
  })
}

const hasEnded = (pod: Pod): boolean => isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined

export function plan({ ended, threshold }: Observed): Plan {
  const excess = ended.length - threshold
  if (threshold <= 0 || excess <= 0) return NOTHING_TO_DO
  const victims = [...ended].sort(byEvictionAndAge).slice(0, excess)
  const actions = victims.map((of): Action => ({ do: 'delete', resource: PODS, of, gracePeriodSeconds: 0 }))
  return { actions: [{ do: 'batch', actions }] }
}

function byEvictionAndAge(a: Pod, b: Pod): number {
  const isEvicted = (pod: Pod): boolean => pod.status?.phase === 'Failed' && pod.status.reason === 'Evicted'
  if (isEvicted(a) !== isEvicted(b)) return isEvicted(a) ? -1 : 1
  const keyOf = ({ metadata: { creationTimestamp, name, namespace } }: Pod): string =>
    `${creationTimestamp ?? ''} ${name ?? ''} ${namespace ?? ''}`
  return keyOf(a) < keyOf(b) ? -1 : 1
}
