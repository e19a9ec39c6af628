/**
 * Which daemon pods an update replaces now. Without surge: as many as maxUnavailable allows, unhealthy ones first.
 * With surge: the new pod is created next to the old one, which is deleted when the new one is available.
 */
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { scaledIntOrPercent } from '../../../kube/int-or-string.ts'
import { isPodAvailable } from '../../../runtime/workloads/pod/state.ts'
import { type Changes, isGoing, type ManageInput, surgeCount } from './manage.ts'
import { isUpToDate } from './pod.ts'

interface OnNode {
  node: string
  newPod: Pod | undefined
  oldPod: Pod | undefined
}

export function rollingUpdate(input: ManageInput): Changes {
  const { set, nodes, judge } = input
  const eligible = nodes.filter((node) => judge(node).shouldRun).map((node) => node.metadata.name ?? '')
  const desired = eligible.length
  const maxSurge = surgeCount(set, desired)
  const { type, rollingUpdate: how } = set.spec?.updateStrategy ?? {}
  const said = type === 'RollingUpdate' ? (scaledIntOrPercent(how?.maxUnavailable ?? 0, desired, true).value ?? 0) : 0
  // If neither were allowed, the update would never happen.
  const maxUnavailable = desired > 0 && said === 0 && maxSurge === 0 ? 1 : said
  const places = [...new Set([...input.podsByNode.keys(), ...eligible])].sort()
  const crowded = places.filter((node) => onNode(input, node) === undefined).length
  const found = places.map((node) => onNode(input, node)).filter((one) => one !== undefined)
  return maxSurge === 0
    ? withinUnavailable(input, found, maxUnavailable - crowded)
    : withinSurge(input, found, { headroom: maxSurge - crowded, desired })
}

/** Undefined when there are more pods than an update would create: those are handled first. */
function onNode({ podsByNode, set, hash }: ManageInput, node: string): OnNode | undefined {
  const pods = (podsByNode.get(node) ?? []).filter((pod) => !isGoing(pod))
  const newPods = pods.filter((pod) => isUpToDate(pod, set, hash))
  const oldPods = pods.filter((pod) => !newPods.includes(pod))
  return newPods.length > 1 || oldPods.length > 1 ? undefined : { node, newPod: newPods[0], oldPod: oldPods[0] }
}

const isAvailable = ({ set, nowMs }: ManageInput, pod: Pod): boolean => isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)

function withinUnavailable(input: ManageInput, found: readonly OnNode[], maxUnavailable: number): Changes {
  const unwell: OnNode[] = []
  const candidates: OnNode[] = []
  let unavailable = 0
  for (const one of found) {
    const { newPod, oldPod } = one
    if ((newPod === undefined) === (oldPod === undefined)) unavailable++
    else if (newPod !== undefined) unavailable += isAvailable(input, newPod) ? 0 : 1
    else if (oldPod !== undefined && isAvailable(input, oldPod)) candidates.push(one)
    else {
      unavailable++
      unwell.push(one)
    }
  }
  const headroom = Math.max(0, maxUnavailable - unavailable)
  return { create: [], remove: [...unwell, ...candidates.slice(0, headroom)].flatMap(removalOf) }
}

const removalOf = ({ node, oldPod }: OnNode): Changes['remove'] => (oldPod === undefined ? [] : [{ pod: oldPod, why: undefined, node }])

function withinSurge(input: ManageInput, found: readonly OnNode[], bounds: { headroom: number; desired: number }): Changes {
  const shouldRun = new Map(input.nodes.map((node) => [node.metadata.name ?? '', input.judge(node).shouldRun]))
  const done: OnNode[] = []
  const leaving: OnNode[] = []
  const replaced: string[] = []
  const candidates: string[] = []
  let { headroom } = bounds
  let available = 0
  for (const one of found) {
    const { node, newPod, oldPod } = one
    const isOldWell = oldPod !== undefined && isAvailable(input, oldPod)
    const isNewWell = newPod !== undefined && isAvailable(input, newPod)
    if (oldPod === undefined ? isNewWell : isOldWell) available++
    if (oldPod === undefined) continue
    if (newPod !== undefined) {
      if (isNewWell) done.push(one)
      else headroom--
    } else if (shouldRun.get(node) === undefined) continue
    else if (isOldWell) {
      if (shouldRun.get(node)) candidates.push(node)
      else leaving.push(one)
    } else if (shouldRun.get(node)) replaced.push(node)
    else done.push(one)
  }
  // Pods that no longer belong stay until enough others are available: an update with surge loses no capacity.
  const mayLeave = Math.max(0, available - bounds.desired)
  return {
    create: [...replaced, ...candidates.slice(0, Math.max(0, headroom))],
    remove: [...done, ...leaving.slice(0, mayLeave)].flatMap(removalOf),
  }
}
