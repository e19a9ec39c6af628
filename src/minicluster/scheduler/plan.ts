/** The writes that follow from a decision. Pure. */
import { formatTime } from '../../base/clock.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import { type Condition, findCondition, setCondition } from '../../kube/conditions.ts'
import { type Action, type EventIntent, NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { type Outcome, SCHEDULER_NAME } from './scheduling.ts'
import { SELECTED_NODE } from './volumes/claims.ts'

export interface Observed {
  outcome: Outcome
  nowMs: number
}

const SCHEDULED = 'PodScheduled'
const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller'

export function plan({ outcome, nowMs }: Observed): Plan {
  switch (outcome.kind) {
    case 'idle':
      return NOTHING_TO_DO
    case 'gated':
      return { actions: sayGated(outcome.pod, nowMs) }
    case 'bind':
      return { actions: [bind(outcome.pod, outcome.node)] }
    case 'volumes': {
      const { pod, node, volumes } = outcome
      const volumeActions = volumes.matched.map(({ claim, volume }) => promise(volume, claim))
      const claimActions = volumes.provisioned.map((claim) => selectNode(claim, node))
      return { actions: [...patchStatus(pod, { node, nowMs }), ...volumeActions, ...claimActions] }
    }
    case 'unschedulable':
      return { actions: sayUnschedulable(outcome, nowMs), requeueAfterMs: outcome.retryAfterMs }
    case 'preempt': {
      const { pod, node, message } = outcome
      return {
        actions: [
          ...patchStatus(pod, { node, message, nowMs }),
          ...outcome.victims.flatMap((victim) => preempt(victim, { pod, node, nowMs })),
        ],
      }
    }
  }
}

function bind(pod: Pod, node: string): Action {
  const { uid, namespace, name } = pod.metadata
  return {
    do: 'post',
    resource: PODS,
    of: pod,
    subresource: 'binding',
    body: { apiVersion: 'v1', kind: 'Binding', metadata: { uid }, target: { kind: 'Node', name: node } },
    events: { of: pod, type: 'Normal', reason: 'Scheduled', message: `Successfully assigned ${namespace}/${name} to ${node}` },
  }
}

/** The server sets the condition when it creates the pod; it is only restored if somebody removed it. */
function sayGated(pod: Pod, nowMs: number): Action[] {
  const message = 'Scheduling is blocked due to non-empty scheduling gates'
  if (findCondition(conditionsOf(pod), SCHEDULED) !== undefined) return []
  return [
    statusPatch(pod, { conditions: withCondition(pod, { type: SCHEDULED, status: 'False', reason: 'SchedulingGated', message }, nowMs) }),
  ]
}

function sayUnschedulable({ pod, message, nomination }: Extract<Outcome, { kind: 'unschedulable' }>, nowMs: number): Action[] {
  // While victims are terminating for this pod, the message from the preemption still holds.
  if (nomination === 'awaited' && findCondition(conditionsOf(pod), SCHEDULED)?.reason === 'Unschedulable') return []
  return patchStatus(pod, { node: nomination === 'void' ? '' : undefined, message, nowMs })
}

interface Said {
  /** The nominated node from now on: a name, none (empty), or as before (undefined). */
  node?: string
  message?: string
  nowMs: number
}

function patchStatus(pod: Pod, { node, message, nowMs }: Said): Action[] {
  const status: Record<string, unknown> = {}
  if (node !== undefined && node !== (pod.status?.nominatedNodeName ?? '')) status.nominatedNodeName = node === '' ? null : node
  const old = findCondition(conditionsOf(pod), SCHEDULED)
  const isChanged = message !== undefined && !(old?.status === 'False' && old.reason === 'Unschedulable' && old.message === message)
  if (isChanged) status.conditions = withCondition(pod, { type: SCHEDULED, status: 'False', reason: 'Unschedulable', message }, nowMs)
  if (Object.keys(status).length === 0) return []
  const events: EventIntent | undefined = isChanged ? { of: pod, type: 'Warning', reason: 'FailedScheduling', message } : undefined
  return [{ ...statusPatch(pod, status), events }]
}

function preempt(victim: Pod, { pod, node, nowMs }: { pod: Pod; node: string; nowMs: number }): Action[] {
  const message = `${SCHEDULER_NAME}: preempting to accommodate a higher priority pod`
  const condition = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message }
  const events: EventIntent = {
    of: victim,
    type: 'Normal',
    reason: 'Preempted',
    message: `Preempted by pod ${pod.metadata.uid} on node ${node}`,
  }
  const old = findCondition(conditionsOf(victim), 'DisruptionTarget')
  const isSaid = old?.status === 'True' && old.reason === condition.reason && old.message === message
  return [
    ...(isSaid ? [] : [statusPatch(victim, { conditions: withCondition(victim, condition, nowMs) })]),
    { do: 'delete', resource: PODS, of: victim, events },
  ]
}

function promise(volume: PersistentVolume, claim: PersistentVolumeClaim): Action {
  const { namespace, name, uid, resourceVersion } = claim.metadata
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion }
  // A volume that somebody reserved for this claim is not ours to make available again.
  const annotations = volume.spec?.claimRef === undefined ? { [BOUND_BY_CONTROLLER]: 'yes' } : {}
  return { do: 'patch', resource: PERSISTENT_VOLUMES, of: volume, patch: { metadata: { annotations }, spec: { claimRef } } }
}

const selectNode = (claim: PersistentVolumeClaim, node: string): Action => ({
  do: 'patch',
  resource: PERSISTENT_VOLUME_CLAIMS,
  of: claim,
  patch: { metadata: { annotations: { [SELECTED_NODE]: node } } },
})

const statusPatch = (of: Pod, status: Record<string, unknown>): Action => ({
  do: 'patch',
  resource: PODS,
  of,
  patch: { status },
  subresource: 'status',
})

const conditionsOf = ({ status }: Pod): Condition[] => (status?.conditions ?? []) as Condition[]

function withCondition(pod: Pod, condition: Condition, nowMs: number): Condition[] {
  const observedGeneration = pod.metadata.generation
  return setCondition(conditionsOf(pod), { lastProbeTime: null, observedGeneration, ...condition } as Condition, formatTime(nowMs))
}
