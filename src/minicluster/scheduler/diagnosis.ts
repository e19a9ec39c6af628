/** Why no node will do, worded as in Kubernetes: how many nodes gave which reason, and what preemption could not change. */
import type { Rejection } from './filters/filter.ts'

export const NO_NODES = 'no nodes available to schedule pods'
const NOTHING_TO_DEALLOCATE = 'no new claims to deallocate'
const NOT_HELPFUL = 'Preemption is not helpful for scheduling'

/** `1 Insufficient cpu, 3 node(s) had untolerated taint(s)`, sorted as texts. */
export function histogram(rejections: Iterable<Rejection>, others?: { reason: string; count: number }): string {
  const counts = new Map<string, number>()
  for (const { reasons } of rejections) for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  if (others !== undefined && others.count > 0) counts.set(others.reason, (counts.get(others.reason) ?? 0) + others.count)
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ')
}

/** `why` is a histogram, or one message that holds for all nodes. */
export function unavailable(nodes: number, why: string, preemption?: string): string {
  const reasons = why === '' ? '' : ` ${why}.`
  const after = preemption === undefined ? '' : ` ${NOTHING_TO_DEALLOCATE}, preemption: ${preemption}`
  return `0/${nodes} nodes are available:${reasons}${after}`
}

/** What preemption found on the nodes where it might have helped. */
export const preemptionFailed = (nodes: number, tried: readonly Rejection[]): string =>
  unavailable(nodes, histogram(tried, { reason: NOT_HELPFUL, count: nodes - tried.length }))

/**
 * When the pod itself is the reason, no node is checked. Kubernetes then looks for the state that the DynamicResources
 * plugin keeps about the pod, which has not run either, and reports that.
 */
export const refusedByItself = (nodes: number, why: string): string => `${unavailable(nodes, why)} not found`
