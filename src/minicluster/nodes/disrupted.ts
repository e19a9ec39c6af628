/** How a controller ends a pod that it disrupts: with a condition that says which controller did it, so that others know why. */
import { formatTime } from '../../base/clock.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod, PodCondition } from '../../kinds/kubernetes/types.ts'
import type { Action } from '../../runtime/controller.ts'
import { isPodTerminal } from '../../runtime/workloads/pod/state.ts'

export interface Disruption {
  reason: string
  message: string
  nowMs: number
}

/** The conditions with DisruptionTarget in them; undefined when they have it already. */
export function disruptedConditions(pod: Pod, { reason, message, nowMs }: Disruption): PodCondition[] | undefined {
  const conditions = pod.status?.conditions ?? []
  const old = conditions.find(({ type }) => type === 'DisruptionTarget')
  if (old?.status === 'True' && old.reason === reason && old.message === message) return undefined
  const { generation } = pod.metadata
  const next: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime: old?.status === 'True' ? old.lastTransitionTime : formatTime(nowMs),
    reason,
    message,
  }
  return old === undefined ? [...conditions, next] : conditions.map((one) => (one === old ? next : one))
}

/** Marked Failed, unless it has ended already, and deleted at once: no kubelet is left to stop it gracefully. */
export function failAndDelete(pod: Pod, disruption?: Disruption): Action[] {
  const actions: Action[] = []
  if (!isPodTerminal(pod)) {
    const conditions = disruption === undefined ? undefined : disruptedConditions(pod, disruption)
    const { generation } = pod.metadata
    const status = {
      phase: 'Failed',
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      ...(conditions === undefined ? {} : { conditions }),
    }
    actions.push({ do: 'patch', resource: PODS, of: pod, patch: { status }, subresource: 'status' })
  }
  return [...actions, { do: 'delete', resource: PODS, of: pod, gracePeriodSeconds: 0 }]
}
