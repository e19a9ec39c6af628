/**
 * On which nodes a daemon pod belongs: those its template selects and whose taints it tolerates, with the tolerations that
 * every daemon pod gets. Judged for the pod as admission will leave it, or pods would be created that can never be placed.
 */

import { isKeptAway, isTolerated } from '../../../kinds/kubernetes/taints.ts'
import type { DaemonSet, Node, Pod, PodSpec, Toleration } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { requiredNodeMatcher, selectableOf } from '../../scheduler/state/node-selector.ts'
import { RUN_ANNOTATION, SIMULATED_TAINT } from '../../shape.ts'

/** What admission makes of a new pod in a namespace, as far as it affects the choice of nodes. */
export type Admit = (pod: Pod, namespace: KubeObject | undefined) => Pod

/** Pods that do not run as processes are allowed on simulated nodes. */
export const playedUnless =
  (isProcess: (pod: Pod, namespace: KubeObject | undefined) => boolean): Admit =>
  (pod, namespace) => {
    if (isProcess(pod, namespace)) return pod
    const tolerations = [...(pod.spec?.tolerations ?? []), { key: SIMULATED_TAINT, operator: 'Exists', effect: 'NoSchedule' }]
    return { ...pod, spec: { ...pod.spec, tolerations } }
  }

/** Whether the pod, or else its namespace, asks to be run as a process. */
export function asksForProcess(pod: Pod, namespace: KubeObject | undefined): boolean {
  const requestedOf = (object: KubeObject | undefined): string | undefined =>
    object?.metadata.annotations?.[RUN_ANNOTATION] ?? object?.metadata.labels?.[RUN_ANNOTATION]
  return (requestedOf(pod) ?? requestedOf(namespace)) === 'process'
}

export interface Verdict {
  /** A pod belongs here. */
  shouldRun: boolean
  /** An existing pod may stay here. */
  mayStay: boolean
}

const NO: Verdict = Object.freeze({ shouldRun: false, mayStay: false })
const YES: Verdict = Object.freeze({ shouldRun: true, mayStay: true })

export interface Judged {
  set: DaemonSet
  admit: Admit
  namespace: KubeObject | undefined
}

export function judgeOf({ set, admit, namespace }: Judged): (node: Node) => Verdict {
  const template = set.spec?.template
  const spec: PodSpec = { ...template?.spec, tolerations: daemonTolerations(template?.spec) }
  const pod = admit({ apiVersion: 'v1', kind: 'Pod', metadata: { ...template?.metadata }, spec }, namespace)
  const matches = requiredNodeMatcher(pod)
  const tolerations = pod.spec?.tolerations ?? []
  const named = template?.spec?.nodeName ?? ''
  return (node) => {
    if (named !== '' && named !== node.metadata.name) return NO
    if (matches?.(selectableOf(node)) === false) return NO
    const taints = node.spec?.taints ?? []
    if (!isKeptAway(taints, tolerations)) return YES
    const isDriven = taints.some((taint) => taint.effect === 'NoExecute' && !isTolerated(taint, tolerations))
    return { shouldRun: false, mayStay: !isDriven }
  }
}

/** Node problems that daemon pods tolerate, with the effect of their taint. */
const ENDURED: readonly (readonly [key: string, effect: string])[] = [
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
  ['node.kubernetes.io/memory-pressure', 'NoSchedule'],
  ['node.kubernetes.io/pid-pressure', 'NoSchedule'],
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
]
const NETWORK_UNAVAILABLE = ['node.kubernetes.io/network-unavailable', 'NoSchedule'] as const

/** The tolerations of the template, and those of every daemon pod. */
export function daemonTolerations(spec: PodSpec | undefined): Toleration[] {
  const tolerations: Toleration[] = [...(spec?.tolerations ?? [])]
  for (const [key, effect] of spec?.hostNetwork === true ? [...ENDURED, NETWORK_UNAVAILABLE] : ENDURED) {
    const wanted = { key, operator: 'Exists', effect }
    const at = tolerations.findIndex(
      (one) => one.key === key && one.operator === 'Exists' && one.effect === effect && (one.value ?? '') === '',
    )
    // One with a time limit becomes one without.
    if (at >= 0) tolerations[at] = wanted
    else tolerations.push(wanted)
  }
  return tolerations
}
