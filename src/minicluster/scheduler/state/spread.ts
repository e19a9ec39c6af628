/** Topology spread constraints, parsed: which pods are counted, over which nodes. Shared by the filter and the score. */

import { isKeptAway } from '../../../kinds/kubernetes/taints.ts'
import type { TopologySpreadConstraint } from '../../../kinds/kubernetes/types.ts'
import { formatLabelSelector, type LabelSelector, matchesLabels } from '../../../kube/selector.ts'
import { readSelector } from './affinity-term.ts'
import { requiredNodeMatcher } from './node-selector.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'
import type { PodSetQuery } from './pod-sets.ts'

export interface Spread {
  readonly topologyKey: string
  readonly maxSkew: number
  readonly minDomains: number
  /** Undefined selects nothing. */
  readonly selector: LabelSelector | undefined
  readonly honoursAffinity: boolean
  readonly honoursTaints: boolean
}

export type WhenUnsatisfiable = 'DoNotSchedule' | 'ScheduleAnyway'

export const spreadsOf = ({ pod, labels }: PodInfo, when: WhenUnsatisfiable): Spread[] =>
  (pod.spec?.topologySpreadConstraints ?? []).filter((one) => one.whenUnsatisfiable === when).map((one) => readSpread(one, labels))

function readSpread(constraint: TopologySpreadConstraint, labels: PodInfo['labels']): Spread {
  const said = readSelector(constraint.labelSelector)
  const own = (constraint.matchLabelKeys ?? []).flatMap((key) => {
    const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
    return value === undefined ? [] : [{ key, operator: '=' as const, values: [value] }]
  })
  return {
    topologyKey: constraint.topologyKey ?? '',
    maxSkew: constraint.maxSkew ?? 1,
    minDomains: constraint.minDomains ?? 1,
    selector: said === undefined ? undefined : [...said, ...own],
    honoursAffinity: constraint.nodeAffinityPolicy !== 'Ignore',
    honoursTaints: constraint.nodeTaintsPolicy === 'Honor',
  }
}

export const selects = ({ selector }: Spread, labels: PodInfo['labels']): boolean =>
  selector !== undefined && matchesLabels(selector, labels)

/** Terminating pods no longer count; a selector that selects everything counts nothing, as in Kubernetes. */
export function spreadQuery(namespace: string, { selector }: Spread): PodSetQuery | undefined {
  if (selector === undefined || selector.length === 0) return undefined
  return {
    key: `spread ${namespace} ${formatLabelSelector(selector)}`,
    namespace,
    selector,
    asksNamespaces: false,
    holds: (pod) => pod.namespace === namespace && !pod.isTerminating && matchesLabels(selector, pod.labels),
  }
}

/** Which nodes count for a constraint of this pod. */
export function countedNodes(pod: PodInfo): (spread: Spread, node: NodeState) => boolean {
  const matches = requiredNodeMatcher(pod.pod)
  return (spread, node) =>
    (!spread.honoursAffinity || matches === undefined || matches(node)) &&
    (!spread.honoursTaints || !isKeptAway(node.taints, pod.tolerations))
}

export const hasAllKeys = (spreads: readonly Spread[], node: NodeState): boolean =>
  spreads.every(({ topologyKey }) => node.label(topologyKey) !== undefined)
