/**
 * The status of a simulated pod after each stage: what a kubelet would write, plus a condition that says that nothing
 * really runs. Pure.
 */
import { formatTime } from '../../../base/clock.ts'
import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from '../../../kinds/kubernetes/types.ts'
import { restartsOf } from './next-stage.ts'
import type { Stage } from './stages.ts'

export const SIMULATED_CONDITION = 'sluice.dev/Simulated'
export const SIMULATED_REASON = 'Simulated'

export interface Place {
  hostIP: string
  podIP: string
  /** What to do to run the pod for real, as a sentence. */
  advice: string
}

export function statusAfter(pod: Pod, stage: Stage, place: Place & { nowMs: number }): PodStatus {
  const now = formatTime(place.nowMs)
  const base = { ...pod.status, ...addressesOf(pod, place), startTime: pod.status?.startTime ?? now }
  switch (stage.to) {
    case 'initializing':
      return {
        ...base,
        phase: 'Pending',
        conditions: conditionsOf(pod, { initialized: false, ready: false, why: 'ContainersNotInitialized' }, place),
        initContainerStatuses: initStatuses(pod, (container) => runningStatus(container, pod, now)),
        containerStatuses: waitingStatuses(pod, 'PodInitializing'),
      }
    case 'running':
      return {
        ...base,
        phase: 'Running',
        conditions: conditionsOf(pod, { initialized: true, ready: true }, place),
        ...(hasInit(pod) ? { initContainerStatuses: initStatuses(pod, (container) => endedInit(container, pod, now)) } : {}),
        containerStatuses: containersOf(pod).map((container) => runningStatus(container, pod, now)),
      }
    case 'crashed':
      return {
        ...base,
        phase: 'Running',
        conditions: conditionsOf(pod, { initialized: true, ready: false, why: 'ContainersNotReady' }, place),
        containerStatuses: containersOf(pod).map((container) => crashedStatus(container, pod, { now, exitCode: stage.exitCode ?? 1 })),
      }
    default:
      return ended(pod, base, { stage, now, place })
  }
}

function ended(
  pod: Pod,
  base: PodStatus,
  { stage, now, place }: { stage: Stage; now: string; place: Place & { nowMs: number } },
): PodStatus {
  const hasSucceeded = stage.to === 'succeeded'
  const exitCode = stage.exitCode ?? (hasSucceeded ? 0 : stage.to === 'gone' ? 137 : 1)
  const why = hasSucceeded ? 'PodCompleted' : 'PodFailed'
  return {
    ...base,
    phase: hasSucceeded ? 'Succeeded' : 'Failed',
    conditions: conditionsOf(pod, { initialized: true, ready: false, why }, place),
    containerStatuses: containersOf(pod).map((container) => endedStatus(container, pod, { now, exitCode })),
  }
}

const containersOf = (pod: Pod): readonly Container[] => pod.spec?.containers ?? []
const hasInit = (pod: Pod): boolean => (pod.spec?.initContainers ?? []).length > 0
const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always'

function addressesOf(pod: Pod, { hostIP, podIP }: Place): Pick<PodStatus, 'hostIP' | 'hostIPs' | 'podIP' | 'podIPs'> {
  const own = pod.spec?.hostNetwork === true ? hostIP : podIP
  return { hostIP, hostIPs: [{ ip: hostIP }], podIP: own, podIPs: [{ ip: own }] }
}

const oldStatus = (pod: Pod, name: string | undefined): ContainerStatus | undefined =>
  [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])].find((status) => status.name === name)

function commonOf(container: Container, pod: Pod): ContainerStatus {
  return {
    name: container.name,
    image: container.image ?? '',
    imageID: '',
    containerID: `sluice://simulated-${pod.metadata.uid}-${container.name}`,
    lastState: oldStatus(pod, container.name)?.lastState ?? {},
    restartCount: oldStatus(pod, container.name)?.restartCount ?? 0,
    ready: false,
    started: false,
  }
}

const runningStatus = (container: Container, pod: Pod, now: string): ContainerStatus => ({
  ...commonOf(container, pod),
  ready: true,
  started: true,
  state: { running: { startedAt: now } },
})

const startedAtOf = (container: Container, pod: Pod, now: string): string =>
  oldStatus(pod, container.name)?.state?.running?.startedAt ?? now

function endedStatus(container: Container, pod: Pod, { now, exitCode }: { now: string; exitCode: number }): ContainerStatus {
  const common = commonOf(container, pod)
  const reason = exitCode === 0 ? 'Completed' : 'Error'
  const startedAt = startedAtOf(container, pod, now)
  return { ...common, state: { terminated: { exitCode, reason, startedAt, finishedAt: now, containerID: common.containerID } } }
}

function crashedStatus(container: Container, pod: Pod, { now, exitCode }: { now: string; exitCode: number }): ContainerStatus {
  const { state, ...status } = endedStatus(container, pod, { now, exitCode })
  const message = `back-off 10s restarting failed container=${container.name} pod=${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`
  return { ...status, lastState: state, restartCount: restartsOf(pod) + 1, state: { waiting: { reason: 'CrashLoopBackOff', message } } }
}

/** The statuses after containers with another image than before have been started again; undefined when there are none. */
export function restarted(pod: Pod, nowMs: number): ContainerStatus[] | undefined {
  const now = formatTime(nowMs)
  const statuses = pod.status?.containerStatuses ?? []
  const next = statuses.map((status) => {
    const container = containersOf(pod).find(({ name }) => name === status.name)
    if (container === undefined || (container.image ?? '') === (status.image ?? '')) return status
    const { state } = endedStatus(container, pod, { now, exitCode: 0 })
    return { ...runningStatus(container, pod, now), lastState: state, restartCount: (status.restartCount ?? 0) + 1 }
  })
  return next.some((status, i) => status !== statuses[i]) ? next : undefined
}

function waitingStatuses(pod: Pod, reason: string): ContainerStatus[] {
  return containersOf(pod).map((container) => {
    const { containerID: _none, ...common } = commonOf(container, pod)
    return { ...common, state: { waiting: { reason } } }
  })
}

const initStatuses = (pod: Pod, of: (container: Container) => ContainerStatus): ContainerStatus[] =>
  (pod.spec?.initContainers ?? []).map(of)

function endedInit(container: Container, pod: Pod, now: string): ContainerStatus {
  if (isSidecar(container)) return runningStatus(container, pod, now)
  return { ...endedStatus(container, pod, { now, exitCode: 0 }), ready: true }
}

interface Readiness {
  initialized: boolean
  ready: boolean
  /** The reason when it is not true. */
  why?: string
}

/** The conditions a kubelet writes, next to those of others (scheduler, readiness gates), which are kept. */
export function conditionsOf(
  pod: Pod,
  { initialized, ready, why }: Readiness,
  { nowMs, advice }: { nowMs: number; advice: string },
): PodCondition[] {
  const now = formatTime(nowMs)
  const waiting = containersOf(pod).map((container) => container.name)
  const message =
    why === 'ContainersNotReady' || why === 'ContainersNotInitialized'
      ? `containers with unready status: [${waiting.join(' ')}]`
      : undefined
  const gate = (pod.spec?.readinessGates ?? []).find(({ conditionType }) => conditionStatus(pod, conditionType) !== 'True')
  const isReady = ready && gate === undefined
  const generation = pod.metadata.generation
  const next: PodCondition[] = [
    { type: 'PodReadyToStartContainers', status: 'True' },
    { type: 'Initialized', status: initialized ? 'True' : 'False', ...(initialized ? {} : { reason: why, message }) },
    {
      type: 'Ready',
      status: isReady ? 'True' : 'False',
      ...(isReady ? {} : ready ? gateReason(gate?.conditionType) : { reason: why, message }),
    },
    { type: 'ContainersReady', status: ready ? 'True' : 'False', ...(ready ? {} : { reason: why, message }) },
    { type: SIMULATED_CONDITION, status: 'True', reason: SIMULATED_REASON, message: advice },
  ]
  const own = next.map((condition): PodCondition => {
    const old = (pod.status?.conditions ?? []).find(({ type }) => type === condition.type)
    const lastTransitionTime = old !== undefined && old.status === condition.status ? old.lastTransitionTime : now
    return { ...condition, ...(generation === undefined ? {} : { observedGeneration: generation }), lastTransitionTime }
  })
  return [...(pod.status?.conditions ?? []).filter(({ type }) => own.every((condition) => condition.type !== type)), ...own]
}

const gateReason = (type: string | undefined): { reason: string; message: string } => ({
  reason: 'ReadinessGatesNotReady',
  message: `the status of pod readiness gate "${type}" is not "True", but False`,
})

const conditionStatus = (pod: Pod, type: string | undefined): string | undefined =>
  (pod.status?.conditions ?? []).find((condition) => condition.type === type)?.status
