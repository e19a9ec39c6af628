/** What a pod's status says about it, in the terms that workload controllers use: ready, available, active, terminating. */
import type { Pod, PodCondition } from '../../../kinds/kubernetes/types.ts'
import { timeToMs } from '../../../kube/go-time.ts'

/** Called for every pod in every pass: a plain loop. */
function readyCondition(pod: Pod): PodCondition | undefined {
  const conditions = pod.status?.conditions
  if (conditions !== undefined) for (const condition of conditions) if (condition.type === 'Ready') return condition
  return undefined
}

export const isPodReady = (pod: Pod): boolean => readyCondition(pod)?.status === 'True'

export const isRunningAndReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && isPodReady(pod)

/** Since when it is ready; undefined when it is not, or has no time. */
export function podReadySinceMs(pod: Pod): number | undefined {
  const condition = readyCondition(pod)
  return condition?.status === 'True' ? timeToMs(condition.lastTransitionTime) : undefined
}

/** Ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  if (!isPodReady(pod)) return false
  if (minReadySeconds <= 0) return true
  const since = podReadySinceMs(pod)
  return since !== undefined && since + minReadySeconds * 1000 <= nowMs
}

/** How long until the first of the pods that are ready but not yet available becomes available; undefined when none waits. */
export function nextPodAvailableInMs(pods: readonly Pod[], minReadySeconds: number, nowMs: number): number | undefined {
  if (minReadySeconds <= 0) return undefined
  let first: number | undefined
  for (const pod of pods) {
    const since = podReadySinceMs(pod)
    if (since === undefined) continue
    const inMs = since + minReadySeconds * 1000 - nowMs
    if (inMs > 0 && (first === undefined || inMs < first)) first = inMs
  }
  return first
}

/** All its containers have stopped for good. */
export function isPodTerminal(pod: Pod): boolean {
  const phase = pod.status?.phase
  return phase === 'Succeeded' || phase === 'Failed'
}

/** Counts as a replica: neither ended nor being deleted. */
export const isPodActive = (pod: Pod): boolean => !isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined

/** Being deleted, and not ended yet. */
export const isPodTerminating = (pod: Pod): boolean => !isPodTerminal(pod) && pod.metadata.deletionTimestamp !== undefined
