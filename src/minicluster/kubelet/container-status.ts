/**
 * The status of one container, from the state of its newest run and what was reported before. A reported end is never
 * rewritten; a run that is only being started is not shown yet. Pure.
 */
import { formatTime } from '../../base/clock.ts'
import type { ContainerState, ContainerStateTerminated, ContainerStatus, VolumeMountStatus } from '../../kinds/kubernetes/types.ts'
import { formatDuration } from '../../kube/go-duration.ts'
import { type ContainerView, containerIdOf, type Standing } from './containers.ts'
import { hasStarted, isBeingPrepared, type Life, type LifeInput } from './life.ts'
import type { Problem } from './run-spec.ts'

export interface StatusInput extends LifeInput {
  life: Life
  images: ReadonlyMap<string, string>
  /** Why a container that is due cannot be started. */
  problems: ReadonlyMap<string, Problem>
  /** What its volumes wait for; undefined when they are ready, or when that is not known yet. */
  volumeMessage: string | undefined
  /** False until the volumes were checked: right after a start. */
  areVolumesKnown: boolean
}

export function containerStatusOf(view: ContainerView, input: StatusInput): ContainerStatus {
  const { standing, reported } = view
  const isHidden =
    standing.is === 'asked' || standing.is === 'starting' || standing.is === 'ending' || isBeingPrepared(view, input.progressOf(view))
  if (isHidden && reported !== undefined && standing.is !== 'absent') return hiddenStatus(view, reported, input)
  // The reported reason for waiting stands until more is known.
  const isDue = input.life.starts.some((start) => start.view === view)
  if (isDue && !input.areVolumesKnown && reported?.state?.waiting !== undefined) return reported
  const shown = isHidden || standing.is === 'absent' ? undefined : standing
  const { state, lastState } = statesOf(view, shown, input)
  const isUp = state.running !== undefined && hasStarted(view, input)
  const run = shown === undefined ? undefined : { podUid: input.pod.metadata.uid ?? '', container: view.name, attempt: shown.attempt }
  const containerID = run === undefined ? reported?.containerID : containerIdOf(run)
  // A running container keeps the image it was started from, though the spec may have changed since.
  const image = (containerID === reported?.containerID ? reported?.image : undefined) ?? view.spec.image ?? ''
  return {
    name: view.name,
    state,
    lastState,
    ready: isReady(view, { isUp, state }, input),
    restartCount: Math.max(reported?.restartCount ?? 0, shown?.attempt ?? 0),
    image,
    imageID: run === undefined ? (reported?.imageID ?? '') : imageIdOf(input.images.get(image)),
    containerID,
    started: isUp,
    ...resourcesOf(view),
    volumeMounts: volumeMountsOf(view),
  }
}

/** While a run starts or its end is examined, the reported status stays, except for readiness. */
function hiddenStatus(view: ContainerView, reported: ContainerStatus, input: StatusInput): ContainerStatus {
  if (view.standing.is === 'ending') return { ...reported, ready: false, started: false }
  const { postStart } = input.progressOf(view)
  const hasFailed = postStart?.state === 'done' && postStart.failure !== undefined
  if (!hasFailed) return reported
  const lastState = reported.state?.terminated === undefined ? reported.lastState : { terminated: reported.state.terminated }
  return { ...reported, state: { waiting: { reason: 'PostStartHookError', message: postStart.failure } }, lastState }
}

const imageIdOf = (root: string | undefined): string => (root === undefined ? 'sluice.dev/this-machine' : `sluice.dev/directory${root}`)

function statesOf(
  view: ContainerView,
  shown: Exclude<Standing, { is: 'absent' }> | undefined,
  input: StatusInput,
): { state: ContainerState; lastState: ContainerState } {
  const before = endBefore(view, shown?.attempt, input)
  const lastState: ContainerState = before === undefined ? {} : { terminated: before }
  if (shown?.is === 'running') return { state: { running: { startedAt: formatTime(shown.startedAtMs) } }, lastState }
  const ended = shown?.is === 'ended' ? terminatedOf(view, shown, input) : undefined
  const waiting = waitingOf(view, input)
  if (ended === undefined) return { state: { waiting: waiting ?? defaultWaiting(input) }, lastState }
  // A container that waits to be restarted shows its last end as its last state.
  return waiting === undefined ? { state: { terminated: ended }, lastState } : { state: { waiting }, lastState: { terminated: ended } }
}

function defaultWaiting({ pod, volumeMessage, life }: StatusInput): { reason: string; message?: string } {
  const reason = (pod.spec?.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating'
  return volumeMessage === undefined || life.ending !== undefined ? { reason } : { reason, message: volumeMessage }
}

/** Undefined when the container waits for nothing in particular. */
function waitingOf({ name }: ContainerView, { life, problems, pod, nowMs }: StatusInput): { reason: string; message: string } | undefined {
  if (life.ending !== undefined) return undefined
  const pause = life.pauses.get(name)
  if (pause !== undefined && pause.untilMs > nowMs) {
    const message = `back-off ${formatDuration(BigInt(pause.pauseMs) * 1_000_000n)} restarting failed container=${name} pod=${podName(pod)}`
    return { reason: 'CrashLoopBackOff', message }
  }
  const problem = life.starts.some(({ view }) => view.name === name) ? problems.get(name) : undefined
  return problem
}

export const podName = ({ metadata }: StatusInput['pod']): string =>
  `${metadata.name ?? ''}_${metadata.namespace ?? ''}(${metadata.uid ?? ''})`

function terminatedOf(view: ContainerView, ended: Extract<Standing, { is: 'ended' }>, { pod }: StatusInput): ContainerStateTerminated {
  if (ended.reported !== undefined) return ended.reported
  const { exitCode, signal, reason, message, startedAtMs, finishedAtMs } = ended.end
  return {
    exitCode,
    ...(signal === undefined ? {} : { signal }),
    reason,
    ...(message === undefined || message === '' ? {} : { message }),
    startedAt: formatTime(startedAtMs),
    finishedAt: formatTime(finishedAtMs),
    containerID: containerIdOf({ podUid: pod.metadata.uid ?? '', container: view.name, attempt: ended.attempt }),
  }
}

/** The end of the run before the one that is shown, as it was reported, or otherwise as the machine knows it. */
function endBefore(view: ContainerView, attempt: number | undefined, { pod }: StatusInput): ContainerStateTerminated | undefined {
  const { reported, runs } = view
  const current = attempt === undefined ? undefined : containerIdOf({ podUid: pod.metadata.uid ?? '', container: view.name, attempt })
  const record = [reported?.state?.terminated, reported?.lastState?.terminated].find(
    (one) => one !== undefined && one.containerID !== current,
  )
  if (record !== undefined) return record
  const before = attempt === undefined ? undefined : runs.find((run) => run.attempt === attempt - 1)
  if (before?.state.phase !== 'exited') return undefined
  const { exitCode, startedAtMs, finishedAtMs } = before.state
  return {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: formatTime(startedAtMs),
    finishedAt: formatTime(finishedAtMs),
    containerID: containerIdOf(before),
  }
}

function isReady(view: ContainerView, { isUp, state }: { isUp: boolean; state: ContainerState }, input: StatusInput): boolean {
  if (view.role === 'init') return state.terminated?.exitCode === 0
  return isUp && (view.spec.readinessProbe === undefined || input.verdictsOf(view).readiness === true)
}

function resourcesOf({ spec }: ContainerView): Pick<ContainerStatus, 'allocatedResources' | 'resources'> {
  const { requests, limits } = spec.resources ?? {}
  return { allocatedResources: requests, resources: requests === undefined && limits === undefined ? undefined : { requests, limits } }
}

function volumeMountsOf({ spec }: ContainerView): VolumeMountStatus[] | undefined {
  if (spec.volumeMounts === undefined || spec.volumeMounts.length === 0) return undefined
  return spec.volumeMounts.map(({ name, mountPath, readOnly }) => ({
    name,
    mountPath,
    ...(readOnly === true ? { readOnly, recursiveReadOnly: 'Disabled' } : {}),
  }))
}
