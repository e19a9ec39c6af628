/** One daemon pod wherever one belongs: what to create and delete so that every node has its pod, apart from updates. */
import type { DaemonSet, Node, Pod } from '../../../kinds/kubernetes/types.ts'
import { scaledIntOrPercent } from '../../../kube/int-or-string.ts'
import { isPodAvailable, isPodReady } from '../../../runtime/workloads/pod/state.ts'
import { REVISION_LABEL } from '../../../runtime/workloads/revision/history.ts'
import type { Verdict } from './eligibility.ts'
import { byAge } from './pod.ts'

export interface ManageInput {
  set: DaemonSet
  nodes: readonly Node[]
  judge(node: Node): Verdict
  /** Pods by the node they are on or meant for, without those that have ended and are being deleted. */
  podsByNode: ReadonlyMap<string, readonly Pod[]>
  /** Of the current revision. */
  hash: string
  /** Failed pods that must wait to be replaced. */
  waits: ReadonlyMap<Pod, number>
  nowMs: number
}

export type Why = 'failed' | 'succeeded' | undefined

export interface Changes {
  /** Nodes that need a pod. */
  create: string[]
  remove: { pod: Pod; why: Why; node: string }[]
}

export function manage(input: ManageInput): Changes {
  const changes: Changes = { create: [], remove: [] }
  const known = new Set<string>()
  for (const node of input.nodes) {
    known.add(node.metadata.name ?? '')
    manageNode(input, node, changes)
  }
  // Meant for a node that is gone and not bound: nothing else would ever clean it up.
  for (const [node, pods] of input.podsByNode) {
    if (known.has(node)) continue
    for (const pod of pods) if ((pod.spec?.nodeName ?? '') === '' && !isGoing(pod)) changes.remove.push({ pod, why: undefined, node })
  }
  return changes
}

export const isGoing = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined

function manageNode(input: ManageInput, node: Node, { create, remove }: Changes): void {
  const { shouldRun, mayStay } = input.judge(node)
  const name = node.metadata.name ?? ''
  const pods = input.podsByNode.get(name)
  if (pods === undefined) {
    if (shouldRun) create.push(name)
    return
  }
  const take = (pod: Pod, why: Why = undefined): unknown => remove.push({ pod, why, node: name })
  const staying = pods.filter((pod) => !isGoing(pod))
  if (!mayStay) {
    for (const pod of staying) take(pod)
    return
  }
  const running: Pod[] = []
  for (const pod of staying) {
    const phase = pod.status?.phase
    if (phase === 'Failed') {
      if (!input.waits.has(pod)) take(pod, 'failed')
    } else if (phase === 'Succeeded') take(pod, 'succeeded')
    else running.push(pod)
  }
  running.sort(byAge)
  if (!allowsSurge(input.set)) for (const pod of running.slice(1)) take(pod)
  else if (running.length > 1) for (const pod of surplusOf(input, running)) take(pod)
  else if (running.length === 0 && shouldRun) create.push(name)
}

/** Of each revision the oldest stays; of those two, the old one only as long as it is needed. */
function surplusOf({ set, hash, nowMs }: ManageInput, running: readonly Pod[]): Pod[] {
  const isNew = (pod: Pod): boolean => pod.metadata.labels?.[REVISION_LABEL] === hash
  const newPod = running.find(isNew)
  const oldPod = running.find((pod) => !isNew(pod))
  const surplus = running.filter((pod) => pod !== newPod && pod !== oldPod)
  if (newPod === undefined || oldPod === undefined) return surplus
  const isDone = !isPodReady(oldPod) || isPodAvailable(newPod, set.spec?.minReadySeconds ?? 0, nowMs)
  return isDone ? [...surplus, oldPod] : surplus
}

/** How many pods beyond one per node an update may use. */
export function surgeCount(set: DaemonSet, desired: number): number {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type !== 'RollingUpdate' || rollingUpdate?.maxSurge === undefined) return 0
  return scaledIntOrPercent(rollingUpdate.maxSurge, desired, true).value ?? 0
}

const allowsSurge = (set: DaemonSet): boolean => surgeCount(set, 1) > 0
