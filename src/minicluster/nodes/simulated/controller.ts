/**
 * Simulates the pods of simulated nodes: after each stage's delay it writes what a kubelet would have written. Sole writer
 * of: the kubelet's part of those pods' status, and their final deletion. Runs again when the pod or its node changes, and
 * when the next stage is due; while nothing changes there is nothing to do, so idle nodes cost nothing, however many.
 * Cost: one write and at most one timer per stage and pod.
 */

import { deepEqual } from '../../../base/json.ts'
import { NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Node, Pod } from '../../../kinds/kubernetes/types.ts'
import { refOf } from '../../../kube/object-reference.ts'
import {
  type Action,
  type Controller,
  defineController,
  type EventIntent,
  indexOf,
  NOTHING_TO_DO,
  type Plan,
  via,
} from '../../../runtime/controller.ts'
import { BECAUSE_ANNOTATION } from '../../admission/run-placement.ts'
import { isSimulated } from '../../shape.ts'
import { createAddresses } from './addresses.ts'
import { EXIT_CODE_ANNOTATION, nextStage, pointOf } from './next-stage.ts'
import { DEFAULT_STAGES, type Stage } from './stages.ts'
import { conditionsOf, type Place, restarted, SIMULATED_CONDITION, SIMULATED_REASON, statusAfter } from './status.ts'

export interface Observed {
  pod: Pod | undefined
  /** Undefined when the pod is not on a simulated node. */
  place: Place | undefined
  stages: readonly Stage[]
  nowMs: number
}

const ADVICE = 'nothing of this pod runs, its life is played'

export function simulatedNodes(stages: readonly Stage[] = DEFAULT_STAGES): Controller {
  const addresses = createAddresses()
  return defineController<Observed, Pod>({
    name: 'minicluster.nodes.simulated',
    component: 'kubelet',
    for: PODS,
    watches: [
      via(NODES, (node, read) => (isSimulated(node) ? read.byIndex(PODS, 'node', node.metadata.name ?? '').map(refOf) : []), {
        // Labels and heartbeats of a node come and go, and would be a pass for each of its pods.
        isRelevantUpdate: (old, node) => placeText(old) !== placeText(node),
      }),
    ],
    indexes: [indexOf(PODS, 'node', (pod) => (pod.spec?.nodeName === undefined ? [] : [pod.spec.nodeName]))],
    writes: [
      { resource: PODS, subresource: 'status', verbs: ['patch'] },
      { resource: PODS, verbs: ['delete'] },
    ],
    concurrency: 16,
    observe(_ref, pod, read) {
      const name = pod?.spec?.nodeName
      const node = name === undefined ? undefined : read.get(NODES, '', name)
      if (pod === undefined || node === undefined || !isSimulated(node)) return { pod, place: undefined, stages, nowMs: read.nowMs() }
      const podIP = addresses.reserve(pod, node.spec?.podCIDR ?? '10.0.0.0/24', read.byIndex(PODS, 'node', name ?? ''))
      // From here on the status holds the address.
      if (pod.status?.podIP === podIP) addresses.release(pod.metadata.uid ?? '')
      return { pod, place: { hostIP: hostIpOf(node), podIP, advice: adviceOf(pod) }, stages, nowMs: read.nowMs() }
    },
    plan,
  })
}

export function plan({ pod, place, stages, nowMs }: Observed): Plan {
  if (pod === undefined || place === undefined) return NOTHING_TO_DO
  const next = nextStage(pod, stages)
  if (next !== undefined && next.dueAtMs <= nowMs) return { actions: turn(pod, next.stage, { ...place, nowMs }) }
  const actions = [...restarts(pod, nowMs), ...gates(pod, { ...place, nowMs })].slice(0, 1)
  return next === undefined ? { actions } : { actions, requeueAfterMs: next.dueAtMs - nowMs }
}

function turn(pod: Pod, stage: Stage, place: Place & { nowMs: number }): Action[] {
  const status: Action = {
    do: 'patch',
    resource: PODS,
    of: pod,
    patch: { status: statusAfter(pod, stage, place) },
    subresource: 'status',
    events: eventsOf(pod, stage, place),
  }
  if (stage.to !== 'gone') return [status]
  const isEnded = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
  // Whatever still holds the pod (a Job that counts it) must see how it ended before it can be deleted.
  if (!isEnded && (pod.metadata.finalizers ?? []).length > 0) return [status]
  // Everything here is done; only finalizers of others keep it.
  if (pod.metadata.deletionGracePeriodSeconds === 0 && (pod.metadata.finalizers ?? []).length > 0) return []
  return [{ do: 'delete', resource: PODS, of: pod, gracePeriodSeconds: 0 }]
}

/** A container whose image was changed is started again. */
function restarts(pod: Pod, nowMs: number): Action[] {
  const containerStatuses = pointOf(pod) === 'running' ? restarted(pod, nowMs) : undefined
  if (containerStatuses === undefined) return []
  return [{ do: 'patch', resource: PODS, of: pod, patch: { status: { containerStatuses } }, subresource: 'status' }]
}

/** Readiness gates are set by others; Ready follows them while the pod runs. */
function gates(pod: Pod, place: Place & { nowMs: number }): Action[] {
  if ((pod.spec?.readinessGates ?? []).length === 0 || pointOf(pod) !== 'running') return []
  const areRunning = (pod.status?.containerStatuses ?? []).every((status) => status.ready === true)
  const conditions = conditionsOf(pod, { initialized: true, ready: areRunning, why: 'ContainersNotReady' }, place)
  if (deepEqual(conditions, pod.status?.conditions)) return []
  return [{ do: 'patch', resource: PODS, of: pod, patch: { status: { conditions } }, subresource: 'status' }]
}

function eventsOf(pod: Pod, stage: Stage, { advice }: Place): EventIntent[] {
  const isFirst = (pod.status?.conditions ?? []).every((condition) => condition.type !== SIMULATED_CONDITION)
  const events: EventIntent[] = isFirst ? [{ of: pod, type: 'Normal', reason: SIMULATED_REASON, message: advice }] : []
  if (stage.to === 'crashed') {
    const names = (pod.spec?.containers ?? []).map((container) => container.name)
    for (const name of names)
      events.push({ of: pod, type: 'Warning', reason: 'BackOff', message: `Back-off restarting failed container ${name} in pod` })
  }
  return events
}

function adviceOf(pod: Pod): string {
  const because = pod.metadata.annotations?.[BECAUSE_ANNOTATION]
  const end = pod.metadata.annotations?.[EXIT_CODE_ANNOTATION] === undefined ? '' : ' to the end its annotations ask for'
  return because === undefined || because === '' ? `${ADVICE}${end}: it is on a simulated node` : `${ADVICE}${end}: ${because}`
}

/** What passes read of a node. */
const placeText = (node: Node): string => JSON.stringify([isSimulated(node), node.metadata.uid, node.spec?.podCIDR, hostIpOf(node)])

const hostIpOf = (node: Node): string => node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '127.0.0.1'
