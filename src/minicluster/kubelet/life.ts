/**
 * What is to happen to the containers of a pod now: which start, which stop and why, which wait and until when. Init
 * containers run one after another, sidecars keep running, main containers run together; what ended is restarted by its
 * policy after its backoff. Pure.
 */
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { pauseAfter } from './backoff.ts'
import { type ContainerView, containerIdOf, type End, isLive, nextAttempt, parseMs, shouldRestart } from './containers.ts'
import type { RunProgress, Stop } from './stopping.ts'

export type ProbeKind = 'startup' | 'readiness' | 'liveness'

/** The verdicts of a run's probes; undefined when there is no such probe, or it has no verdict yet. */
export type ProbeVerdicts = Partial<Record<ProbeKind, boolean>>

export interface LifeInput {
  pod: Pod
  views: readonly ContainerView[]
  /** The node is shutting down: everything is stopped, and nothing is concluded from it. */
  isShuttingDown: boolean
  verdictsOf(view: ContainerView): ProbeVerdicts
  progressOf(view: ContainerView): RunProgress
  nowMs: number
}

/** Why the pod as a whole is ending. */
export type Ending = 'deleted' | 'finished' | 'deadline' | 'shutdown'

export interface Start {
  view: ContainerView
  attempt: number
}

export interface Life {
  ending: Ending | undefined
  starts: Start[]
  stops: Stop[]
  /** Containers that ended and will be restarted, with the time of that. */
  pauses: ReadonlyMap<string, { untilMs: number; pauseMs: number }>
  requeueAtMs: number | undefined
}

const DEFAULT_GRACE_SECONDS = 30

export function lifeOf(input: LifeInput): Life {
  const { pod, views, nowMs } = input
  const deadlineAtMs = activeDeadlineOf(pod)
  const ending = endingOf(input, deadlineAtMs)
  if (ending !== undefined) return { ending, starts: [], stops: endingStops(input, ending), pauses: new Map(), requeueAtMs: undefined }
  const wanted = views.filter((view) => isDue(view, input))
  const pauses = new Map(wanted.flatMap((view) => pauseOf(view)))
  const starts = wanted
    .filter((view) => (pauses.get(view.name)?.untilMs ?? 0) <= nowMs)
    .map((view) => ({ view, attempt: nextAttempt(view) }))
  const waits = [...pauses.values()].map(({ untilMs }) => untilMs).filter((at) => at > nowMs)
  const times = deadlineAtMs === undefined ? waits : [...waits, deadlineAtMs]
  return { ending, starts, stops: unhealthyStops(input), pauses, requeueAtMs: times.length === 0 ? undefined : Math.min(...times) }
}

function endingOf({ pod, views, isShuttingDown, nowMs }: LifeInput, deadlineAtMs: number | undefined): Ending | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return 'deleted'
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return 'finished'
  if (isShuttingDown) return 'shutdown'
  if (deadlineAtMs !== undefined && nowMs >= deadlineAtMs) return 'deadline'
  return isFinished(pod, views) ? 'finished' : undefined
}

function activeDeadlineOf({ spec, status }: Pod): number | undefined {
  if (spec?.activeDeadlineSeconds === undefined || status?.startTime === undefined) return undefined
  return parseMs(status.startTime) + spec.activeDeadlineSeconds * 1000
}

/** Nothing that ended is restarted, and the main containers have nothing left to do. */
function isFinished(pod: Pod, views: readonly ContainerView[]): boolean {
  const isOver = (view: ContainerView): boolean =>
    view.standing.is === 'ended' && !shouldRestart(view, pod.spec?.restartPolicy, view.standing.end.exitCode)
  const hasFailedInit = views.some((view) => {
    if (view.role !== 'init' || view.standing.is !== 'ended') return false
    return view.standing.end.exitCode !== 0 && isOver(view)
  })
  const main = views.filter((view) => view.role === 'main')
  return hasFailedInit || (main.length > 0 && main.every(isOver))
}

/** Main containers have been started: the init containers are done, and do not run again. */
export function isInitialized(pod: Pod, views: readonly ContainerView[]): boolean {
  return (
    views.some((view) => view.role === 'main' && view.standing.is !== 'absent') ||
    (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Initialized' && status === 'True')
  )
}

/** Whether a container should be started as far as order and policy are concerned. */
function isDue(view: ContainerView, input: LifeInput): boolean {
  if (isLive(view.standing)) return false
  const { pod, views } = input
  const isAgain = (one: ContainerView): boolean =>
    one.standing.is === 'absent' || (one.standing.is === 'ended' && shouldRestart(one, pod.spec?.restartPolicy, one.standing.end.exitCode))
  if (isInitialized(pod, views)) return view.role !== 'init' && isAgain(view)
  const blocking = views.find((one) => one.role !== 'main' && !hasPassed(one, input))
  return blocking === undefined ? view.role === 'main' && isAgain(view) : blocking === view && isAgain(view)
}

/** The next in line may start: an init container has succeeded, a sidecar has started. */
function hasPassed(view: ContainerView, input: LifeInput): boolean {
  if (view.role === 'init') return view.standing.is === 'ended' && view.standing.end.exitCode === 0
  return view.standing.is === 'running' && hasStarted(view, input)
}

/** Running, its postStart hook finished, its startup probe passed. */
export function hasStarted(view: ContainerView, { verdictsOf, progressOf }: Pick<LifeInput, 'verdictsOf' | 'progressOf'>): boolean {
  if (view.standing.is !== 'running' || isBeingPrepared(view, progressOf(view))) return false
  return view.spec.startupProbe === undefined || verdictsOf(view).startup === true
}

/** The postStart hook has not finished. For a container reported as running it has. */
export function isBeingPrepared(view: ContainerView, progress: RunProgress): boolean {
  if (view.spec.lifecycle?.postStart === undefined || view.standing.is !== 'running' || isReportedRunning(view)) return false
  return progress.postStart?.state !== 'done' || progress.postStart.failure !== undefined
}

export function isReportedRunning(view: ContainerView): boolean {
  if (view.standing.is !== 'running' || view.reported?.state?.running === undefined) return false
  const run = view.runs.at(-1)
  return run !== undefined && view.reported.containerID === containerIdOf(run)
}

function pauseOf({ name, standing, runs, reported }: ContainerView): [string, { untilMs: number; pauseMs: number }][] {
  if (standing.is !== 'ended' || standing.end.reason === 'NodeShutdown') return []
  const pauseMs = pauseAfter(standing.end, endBefore(runs, standing, reported), standing.attempt)
  return pauseMs === 0 ? [] : [[name, { untilMs: standing.end.finishedAtMs + pauseMs, pauseMs }]]
}

function endBefore(
  runs: ContainerView['runs'],
  { attempt, end }: Extract<ContainerView['standing'], { is: 'ended' }>,
  reported: ContainerView['reported'],
): Pick<End, 'finishedAtMs'> | undefined {
  const before = runs.find((run) => run.attempt === attempt - 1)
  // Time during which the node was down does not count as backoff.
  const last = [reported?.lastState?.terminated, reported?.state?.terminated].find((one) => one?.reason === 'NodeShutdown')
  if (before !== undefined && last?.containerID === containerIdOf(before)) return { finishedAtMs: end.startedAtMs }
  if (before?.state.phase === 'exited') return before.state
  return before?.state.phase === 'failed' && before.state.atMs !== undefined ? { finishedAtMs: before.state.atMs } : undefined
}

/** Everything stops: main containers at once, then the sidecars, last one first. */
function endingStops(input: LifeInput, ending: Ending): Stop[] {
  const { pod, views } = input
  const live = views.filter((view) => isLive(view.standing))
  const graceSeconds = graceOf(pod)
  const deletedAt = pod.metadata.deletionTimestamp
  // The time in the object is truncated to the second.
  const deadlineMs = ending === 'deleted' && deletedAt !== undefined ? parseMs(deletedAt) + 999 : undefined
  return live.flatMap((view) => {
    if (view.standing.is !== 'running' && view.standing.is !== 'starting') return []
    const isItsTurn = view.role !== 'sidecar' || live.every((other) => other === view || !isAfter(views, other, view))
    const message = `Stopping container ${view.name}`
    return [{ view, attempt: view.standing.attempt, message, graceMs: graceSeconds * 1000, deadlineMs, isItsTurn }]
  })
}

/** Whether `other` ends before the sidecar `view`. */
const isAfter = (views: readonly ContainerView[], other: ContainerView, view: ContainerView): boolean =>
  other.role !== 'sidecar' || views.indexOf(other) > views.indexOf(view)

function graceOf({ spec, metadata }: Pod): number {
  return metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS
}

function unhealthyStops(input: LifeInput): Stop[] {
  const { pod, views } = input
  return views.flatMap((view) => {
    if (view.standing.is !== 'running') return []
    const verdicts = input.verdictsOf(view)
    const { postStart } = input.progressOf(view)
    const willRestart = shouldRestart(view, pod.spec?.restartPolicy, 137) ? ', will be restarted' : ''
    const stop = (message: string, graceSeconds?: number): Stop[] => {
      const graceMs = (graceSeconds ?? graceOf(pod)) * 1000
      return [{ view, attempt: attemptOf(view), message, graceMs, isItsTurn: true }]
    }
    const { startupProbe, livenessProbe, image = '' } = view.spec
    if (isReportedRunning(view) && (view.reported?.image ?? image) !== image)
      return stop(`Container ${view.name} definition changed, will be restarted`)
    if (postStart?.state === 'done' && postStart.failure !== undefined) return stop('FailedPostStartHook')
    if (startupProbe !== undefined && verdicts.startup === false)
      return stop(`Container ${view.name} failed startup probe${willRestart}`, startupProbe.terminationGracePeriodSeconds)
    if (livenessProbe !== undefined && verdicts.liveness === false)
      return stop(`Container ${view.name} failed liveness probe${willRestart}`, livenessProbe.terminationGracePeriodSeconds)
    return []
  })
}

const attemptOf = ({ standing }: ContainerView): number => (standing.is === 'absent' ? standing.nextAttempt : standing.attempt)
