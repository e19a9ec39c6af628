/** The status of a DaemonSet: counted over nodes, by the pod that represents each. */
import type { DaemonSetStatus } from '../../../kinds/kubernetes/types.ts'
import { isPodAvailable, isPodReady } from '../../../runtime/workloads/pod/state.ts'
import type { ManageInput } from './manage.ts'
import { byAge, isUpToDate } from './pod.ts'

export type Counted = Required<Omit<DaemonSetStatus, 'conditions' | 'collisionCount'>>

export function statusOf({ set, nodes, judge, podsByNode, hash, nowMs }: ManageInput): Counted {
  const counted = {
    desiredNumberScheduled: 0,
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    numberReady: 0,
    updatedNumberScheduled: 0,
    numberAvailable: 0,
  }
  for (const node of nodes) {
    const [pod] = [...(podsByNode.get(node.metadata.name ?? '') ?? [])].sort(byAge)
    if (!judge(node).shouldRun) {
      if (pod !== undefined) counted.numberMisscheduled++
      continue
    }
    counted.desiredNumberScheduled++
    if (pod === undefined) continue
    counted.currentNumberScheduled++
    if (isPodReady(pod)) counted.numberReady++
    if (isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)) counted.numberAvailable++
    if (isUpToDate(pod, set, hash)) counted.updatedNumberScheduled++
  }
  const numberUnavailable = counted.desiredNumberScheduled - counted.numberAvailable
  return { ...counted, numberUnavailable, observedGeneration: set.metadata.generation ?? 0 }
}

export function isStatusCurrent(old: DaemonSetStatus = {}, next: Counted): boolean {
  const { observedGeneration, ...numbers } = next
  return (
    (old.observedGeneration ?? 0) >= observedGeneration &&
    Object.entries(numbers).every(([field, value]) => (old[field as keyof typeof numbers] ?? 0) === value)
  )
}
