/** The status of a pod as the kubelet writes it, only where it differs from what is there; and the events that go with it. Pure. */
import { formatTime } from '../../base/clock.ts'
import { deepEqual, isJsonObject, type Json } from '../../base/json.ts'
import type { ContainerStatus, PodStatus } from '../../kinds/kubernetes/types.ts'
import type { EventIntent } from '../../runtime/controller.ts'
import { conditionsOf } from './conditions.ts'
import { containerStatusOf, podName, type StatusInput } from './container-status.ts'
import { type ContainerView, fieldPathOf, isLive } from './containers.ts'
import { isInitialized } from './life.ts'
import { phaseOf } from './phase.ts'

export interface PodStatusInput extends StatusInput {
  nodeName: string
  podIP: string
  hostIP: string
  areVolumesReady: boolean
  /** Why volumes that should be in memory are not. */
  memoryRefusal: string | undefined
  /** What the volumes wait for is progress and no failure. */
  isMounting: boolean
}

const DEADLINE_MESSAGE = 'Pod was active on the node longer than the specified deadline'

export function podStatusOf(input: PodStatusInput): PodStatus {
  const { pod, views, life, podIP, hostIP } = input
  const statuses = new Map(views.map((view) => [view.name, containerStatusOf(view, input)]))
  const wasInitialized = isInitialized(pod, views)
  const verdict = verdictOf(input, statuses, wasInitialized)
  const { phase } = verdict
  const isOver = phase === 'Succeeded' || phase === 'Failed'
  // After a restart of the kubelet the volumes of running containers exist, though they have not been checked yet.
  const hadSandbox = (pod.status?.conditions ?? []).some(({ type, status }) => type === 'PodReadyToStartContainers' && status === 'True')
  const isDown = life.ending === 'shutdown' && !views.some((view) => isLive(view.standing))
  const hasSandbox = (input.areVolumesReady || hadSandbox) && !isOver && !isDown
  const own = (role: (view: ContainerView) => boolean): ContainerStatus[] =>
    views.filter(role).flatMap((view) => statuses.get(view.name) ?? [])
  const now = formatTime(input.nowMs)
  const conditions = conditionsOf({ pod, views, statuses, phase, hasSandbox, isInitialized: wasInitialized, now, memory: input })
  return {
    observedGeneration: pod.metadata.generation,
    ...verdict,
    conditions,
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(podIP === '' ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    startTime: pod.status?.startTime ?? now,
    ...((pod.spec?.initContainers ?? []).length === 0 ? {} : { initContainerStatuses: own((view) => view.role !== 'main') }),
    containerStatuses: own((view) => view.role === 'main'),
  }
}

function verdictOf(
  input: PodStatusInput,
  statuses: ReadonlyMap<string, ContainerStatus>,
  wasInitialized: boolean,
): { phase: string; reason?: string; message?: string } {
  const { pod, views, life } = input
  const { phase: old, reason, message } = pod.status ?? {}
  if (old === 'Succeeded' || old === 'Failed') return { phase: old, reason, message }
  const isStill = !views.some((view) => isLive(view.standing))
  // The pod has not ended while a program still runs.
  if (isStill && life.ending === 'deadline') return { phase: 'Failed', reason: 'DeadlineExceeded', message: DEADLINE_MESSAGE }
  const isTerminal = isStill && life.ending === 'deleted'
  const phase = phaseOf({ pod, views, statuses, isTerminal, isInitialized: wasInitialized })
  const isOver = phase === 'Succeeded' || phase === 'Failed'
  if (isOver && (!isStill || life.ending === 'shutdown')) return { phase: old ?? 'Pending', reason, message }
  return isOver ? { phase, reason: phase === 'Failed' ? shutdownReason(views) : undefined } : { phase, reason, message }
}

/** A pod that is not restarted after a shutdown of the node gives that as its reason. */
const shutdownReason = (views: readonly ContainerView[]): string | undefined =>
  views.some(({ standing }) => standing.is === 'ended' && standing.end.reason === 'NodeShutdown') ? 'NodeShutdown' : undefined

/** The fields of `next` that differ from what is there; undefined when none does. */
export function statusPatch(old: PodStatus | undefined, next: PodStatus): Record<string, unknown> | undefined {
  const before = (old ?? {}) as Record<string, unknown>
  const patch = Object.fromEntries(
    Object.entries(next)
      .filter(([key, value]) => !deepEqual(bare(before[key]), bare(value)))
      .map(([key, value]) => [key, value ?? null]),
  )
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** Without empty values: absent fields and empty objects come and go on the round trip through the server. */
function bare(value: unknown): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => bare(item) ?? null)
  if (!isJsonObject(value)) return (value ?? undefined) as Json | undefined
  const kept = Object.entries(value).flatMap(([key, item]): [string, Json][] => {
    const inner = bare(item)
    return inner === undefined ? [] : [[key, inner]]
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** The events that go with the statuses about to be written. */
export function statusEvents(input: PodStatusInput, next: PodStatus): EventIntent[] {
  const { pod, views, nodeName: host } = input
  const all = [...(next.initContainerStatuses ?? []), ...(next.containerStatuses ?? [])]
  const events = views.flatMap((view): EventIntent[] => {
    const status = all.find(({ name }) => name === view.name)
    if (status === undefined) return []
    const fieldPath = fieldPathOf(view)
    return containerEvents(view, status, podName(pod)).map((pieces) => ({ of: pod, host, fieldPath, ...pieces }))
  })
  const mounting = input.isMounting ? undefined : mountFailure(views, all)
  if (mounting !== undefined) events.push({ of: pod, host, type: 'Warning', reason: 'FailedMount', message: mounting })
  if (input.isMounting && beginsToWait(views, all)) events.push({ of: pod, host, ...waitingForVolumes(pod) })
  if (next.reason === 'DeadlineExceeded' && pod.status?.reason !== next.reason)
    events.push({ of: pod, host, type: 'Normal', reason: 'DeadlineExceeded', message: DEADLINE_MESSAGE })
  return events
}

type Piece = Pick<EventIntent, 'type' | 'reason' | 'message'>

const START_FAILURES = ['CreateContainerError', 'RunContainerError', 'StartError', 'ContainerCannotRun']

function containerEvents({ reported, name, spec }: ContainerView, status: ContainerStatus, pod: string): Piece[] {
  const pieces: Piece[] = []
  if (status.containerID !== undefined && status.containerID !== reported?.containerID) {
    pieces.push({ type: 'Normal', reason: 'Pulled', message: `Container image "${spec.image ?? ''}" already present on machine` })
    const end = status.state?.terminated ?? status.lastState?.terminated
    const failure = end?.containerID === status.containerID && START_FAILURES.includes(end?.reason ?? '') ? end : undefined
    if (failure?.reason !== 'CreateContainerError') pieces.push({ type: 'Normal', reason: 'Created', message: 'Container created' })
    pieces.push(
      failure === undefined
        ? { type: 'Normal', reason: 'Started', message: 'Container started' }
        : { type: 'Warning', reason: 'Failed', message: `Error: ${failure.message ?? ''}` },
    )
  }
  const waiting = status.state?.waiting
  const before = reported?.state?.waiting
  if (waiting?.reason === 'CrashLoopBackOff' && (before?.reason !== waiting.reason || before.message !== waiting.message))
    pieces.push({ type: 'Warning', reason: 'BackOff', message: `Back-off restarting failed container ${name} in pod ${pod}` })
  if (PROBLEMS.includes(waiting?.reason ?? '') && (before?.reason !== waiting?.reason || before?.message !== waiting?.message))
    pieces.push({ type: 'Warning', reason: 'Failed', message: `Error: ${waiting?.message ?? ''}` })
  return pieces
}

const PROBLEMS = ['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']
const CREATING = ['ContainerCreating', 'PodInitializing']

/** kubectl prints no message of a container that waits, so an event says where progress can be seen; once, not at every step. */
function beginsToWait(views: readonly ContainerView[], all: readonly ContainerStatus[]): boolean {
  const messageOf = ({ state }: ContainerStatus): string | undefined =>
    CREATING.includes(state?.waiting?.reason ?? '') ? state?.waiting?.message : undefined
  const before = views.some(({ reported }) => reported !== undefined && messageOf(reported) !== undefined)
  return !before && all.some((status) => messageOf(status) !== undefined)
}

const waitingForVolumes = ({ metadata: { namespace, name } }: PodStatusInput['pod']): Piece => ({
  type: 'Normal',
  reason: 'WaitingForVolumes',
  message: `the pod starts when its volumes are ready; how far they are: sluice why pod/${name} -n ${namespace}, with the --context of this cluster`,
})

/** One event for the pod, though every container waits. */
function mountFailure(views: readonly ContainerView[], all: readonly ContainerStatus[]): string | undefined {
  for (const view of views) {
    const waiting = all.find(({ name }) => name === view.name)?.state?.waiting
    if (!CREATING.includes(waiting?.reason ?? '') || waiting?.message === undefined) continue
    return view.reported?.state?.waiting?.message === waiting.message ? undefined : waiting.message
  }
  return undefined
}
