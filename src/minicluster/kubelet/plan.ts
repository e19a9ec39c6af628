/**
 * What a kubelet does about one pod, decided from the pod, its runs and what is known of volumes, probes and hooks: the
 * status to write, programs to start, signals to send, hooks to run. The same input always gives the same decision, so
 * repeating a pass, or starting over after a crash, never starts anything twice. Pure.
 */
import type { LifecycleHandler, Node, Pod } from '../../kinds/kubernetes/types.ts'
import type { EventIntent, KeyedEvent } from '../../runtime/controller.ts'
import type { RunId } from './container-machine.ts'
import { type Autopsy, type ContainerView, containersOf, fieldPathOf, isLive, parseMs, type Run } from './containers.ts'
import type { EntryPoints } from './entry-point.ts'
import type { EnvironmentContext } from './environment/environment.ts'
import { hostnameOf } from './hostname.ts'
import { isReportedRunning, type LifeInput, lifeOf, type ProbeVerdicts } from './life.ts'
import { podStatusOf, statusEvents, statusPatch } from './pod-status.ts'
import { orderOf, type Problem, type ReadyVolume, type StartOrder } from './run-spec.ts'
import { type RunProgress, type Stop, stopStep } from './stopping.ts'

/** Volumes of the pod: all ready, or what is missing. */
export type VolumesState =
  | { state: 'ready'; volumes: ReadonlyMap<string, ReadyVolume> }
  | {
      state: 'waiting'
      message: string | undefined
      /** Volumes that somebody works on, where nothing has failed: only a long wait is worth an event. */
      unmounted?: readonly string[]
    }

export interface PodInput {
  pod: Pod
  node: Node | undefined
  nodeName: string
  runs: readonly Run[]
  volumes: VolumesState
  podIP: string
  hostIP: string
  /** For the newest run of a container. */
  verdictsOf(run: RunId): ProbeVerdicts
  progressOf(run: RunId): RunProgress
  autopsyOf(run: RunId): Autopsy | undefined
  /** The machine was asked to start this run and has not answered yet. */
  isAsked(run: RunId): boolean
  /** Why the machine refused to start a run, if it was asked to. */
  startFailureOf(run: RunId): string | undefined
  /** Everything of the pod on this machine has been removed. */
  isCleared: boolean
  isShuttingDown: boolean
  configMap: EnvironmentContext['configMap']
  secret: EnvironmentContext['secret']
  machine: MachineInfo
  nowMs: number
}

/** What is the same for all pods of a process node. */
export interface MachineInfo {
  images: ReadonlyMap<string, string>
  entryPoints?: EntryPoints
  namespacesRefusal: string | undefined
  /** Variables every container has. */
  env: Readonly<Record<string, string>>
}

export interface HookOrder {
  run: RunId
  handler: LifecycleHandler
  /** It is abandoned after this long; undefined is never. */
  timeoutMs: number | undefined
}

export interface PodPlan {
  /** Fields to change; undefined when the status is as it should be. */
  status: Record<string, unknown> | undefined
  events: EventIntent[]
  keyedEvents: KeyedEvent[]
  start: StartOrder[]
  signal: { run: RunId; signal: string }[]
  postStart: HookOrder[]
  preStop: HookOrder[]
  /** Ended runs that need an autopsy. */
  autopsy: RunId[]
  /** The pod has ended: what its volumes hold in memory is of no use to anybody. */
  releaseMemory: boolean
  /** Nothing runs any more of a pod that is being deleted: its directories and logs are removed first, then the object. */
  clear: boolean
  remove: boolean
  requeueAfterMs: number | undefined
}

export function planPod(input: PodInput): PodPlan {
  const { pod, nowMs } = input
  const views = containersOf(input)
  const lifeInput: LifeInput = {
    pod,
    views,
    isShuttingDown: input.isShuttingDown,
    verdictsOf: (view) => input.verdictsOf(runOf(view, pod)),
    progressOf: (view) => input.progressOf(runOf(view, pod)),
    nowMs,
  }
  const life = lifeOf(lifeInput)
  const { start, problems } = startsOf(input, life.starts)
  const statusInput = {
    ...lifeInput,
    life,
    images: input.machine.images,
    problems,
    areVolumesKnown: input.volumes.state === 'ready' || input.volumes.message !== undefined,
    volumeMessage: input.volumes.state === 'waiting' ? input.volumes.message : undefined,
    nodeName: input.nodeName,
    podIP: input.podIP,
    hostIP: input.hostIP,
    areVolumesReady: input.volumes.state === 'ready',
    memoryRefusal: refusalOf(input.volumes),
    isMounting: input.volumes.state === 'waiting' && input.volumes.unmounted !== undefined,
  }
  const next = podStatusOf(statusInput)
  const status = statusPatch(pod.status, next)
  const stopping = stepsOf(input, life.stops)
  const isStill = !views.some((view) => isLive(view.standing))
  const isGoing = pod.metadata.deletionTimestamp !== undefined && isStill
  const mounting = longMount(input)
  const times = [life.requeueAtMs, stopping.requeueAtMs, mounting.requeueAtMs].filter((at) => at !== undefined)
  return {
    status,
    events: status === undefined ? [] : statusEvents(statusInput, next),
    keyedEvents: [...stopping.keyedEvents, ...hookEvents(views, lifeInput, input), ...mounting.keyedEvents],
    start,
    signal: stopping.signal,
    postStart: life.ending === undefined ? postStarts(views, lifeInput) : [],
    preStop: stopping.preStop,
    autopsy: views.flatMap((view) => (view.standing.is === 'ending' ? [runOf(view, pod)] : [])),
    releaseMemory: !isGoing && isStill && hasEnded(pod) && hasMemory(pod),
    clear: isGoing && !input.isCleared,
    // Others that hold the pod see how it ended before it is deleted; afterwards only their finalizers keep it.
    remove: isGoing && input.isCleared && status === undefined && !isHeld(pod),
    requeueAfterMs: times.length === 0 ? undefined : Math.max(0, Math.min(...times) - nowMs),
  }
}

/** Why volumes that should be in memory are not; undefined also while that is not known. */
function refusalOf(volumes: VolumesState): string | undefined {
  if (volumes.state !== 'ready') return undefined
  const refused = [...volumes.volumes].filter(([, { refusal }]) => refusal !== undefined)
  const names = refused.map(([name]) => name).join(', ')
  return refused.length === 0
    ? undefined
    : `on disk and without a limit instead of in memory: ${names}. This machine refuses a tmpfs: ${refused[0]?.[1].refusal}`
}

/** When a kubelet first complains about volumes that are not ready. */
const LONG_MOUNT_MS = 123_000

function longMount({ pod, volumes, nodeName: host, nowMs }: PodInput): { keyedEvents: KeyedEvent[]; requeueAtMs: number | undefined } {
  if (volumes.state !== 'waiting' || volumes.unmounted === undefined) return { keyedEvents: [], requeueAtMs: undefined }
  const dueAtMs = (pod.status?.startTime === undefined ? nowMs : parseMs(pod.status.startTime)) + LONG_MOUNT_MS
  if (nowMs < dueAtMs) return { keyedEvents: [], requeueAtMs: dueAtMs }
  const what = `Unable to attach or mount volumes: unmounted volumes=[${volumes.unmounted.join(' ')}], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition`
  const message = volumes.message === undefined ? what : `${what}; ${volumes.message}`
  return {
    keyedEvents: [{ key: 'FailedMount', of: pod, host, type: 'Warning', reason: 'FailedMount', message }],
    requeueAtMs: undefined,
  }
}

const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'
const hasMemory = ({ spec }: Pod): boolean => (spec?.volumes ?? []).some(({ emptyDir }) => emptyDir?.medium === 'Memory')

const isHeld = ({ metadata }: Pod): boolean => metadata.deletionGracePeriodSeconds === 0 && (metadata.finalizers ?? []).length > 0

/** The newest run of a container, or the one that would be. */
function runOf({ name, standing }: ContainerView, pod: Pod): RunId {
  return { podUid: pod.metadata.uid ?? '', container: name, attempt: standing.is === 'absent' ? standing.nextAttempt : standing.attempt }
}

function startsOf(
  input: PodInput,
  starts: readonly { view: ContainerView; attempt: number }[],
): {
  start: StartOrder[]
  problems: Map<string, Problem>
} {
  const { pod, volumes, machine, podIP, hostIP } = input
  const problems = new Map<string, Problem>()
  const start: StartOrder[] = []
  if (volumes.state !== 'ready') return { start, problems }
  const base = { ...machine.env, HOSTNAME: hostnameOf(pod) }
  const environment = { pod, node: input.node, configMap: input.configMap, secret: input.secret, base, podIP, hostIP }
  const context = { ...machine, volumes: volumes.volumes, environment }
  for (const { view, attempt } of starts) {
    const ordered = orderOf(view, attempt, context)
    if ('problem' in ordered) {
      problems.set(view.name, ordered.problem)
      continue
    }
    start.push(ordered.order)
    const failure = input.startFailureOf({ podUid: pod.metadata.uid ?? '', container: view.name, attempt })
    if (failure !== undefined) problems.set(view.name, problemOf(failure))
  }
  return { start, problems }
}

const CONFIG_ERROR = 'CreateContainerConfigError: '

/** The first word of a failed start says whether the requested configuration is at fault. */
function problemOf(failure: string): Problem {
  if (failure.startsWith(CONFIG_ERROR)) return { reason: 'CreateContainerConfigError', message: failure.slice(CONFIG_ERROR.length) }
  return { reason: 'RunContainerError', message: failure }
}

function postStarts(views: readonly ContainerView[], { pod, progressOf }: LifeInput): HookOrder[] {
  return views.flatMap((view) => {
    const handler = view.spec.lifecycle?.postStart
    if (handler === undefined || view.standing.is !== 'running' || isReportedRunning(view)) return []
    return progressOf(view).postStart === undefined ? [{ run: runOf(view, pod), handler, timeoutMs: undefined }] : []
  })
}

interface Stopping {
  signal: PodPlan['signal']
  preStop: HookOrder[]
  keyedEvents: KeyedEvent[]
  requeueAtMs: number | undefined
}

function stepsOf(input: PodInput, stops: readonly Stop[]): Stopping {
  const { pod, nodeName: host, nowMs } = input
  const stopping: Stopping = { signal: [], preStop: [], keyedEvents: [], requeueAtMs: undefined }
  for (const stop of stops) {
    const run = { podUid: pod.metadata.uid ?? '', container: stop.view.name, attempt: stop.attempt }
    const step = stopStep(stop, input.progressOf(run), nowMs)
    const handler = stop.view.spec.lifecycle?.preStop
    if (step.preStop === true && handler !== undefined) stopping.preStop.push({ run, handler, timeoutMs: stop.graceMs })
    if (step.signal !== undefined) stopping.signal.push({ run, signal: step.signal })
    if (step.requeueAtMs !== undefined) stopping.requeueAtMs = Math.min(step.requeueAtMs, stopping.requeueAtMs ?? step.requeueAtMs)
    const key = `Killing ${run.container} ${run.attempt}`
    const fieldPath = fieldPathOf(stop.view)
    stopping.keyedEvents.push({ key, of: pod, host, fieldPath, type: 'Normal', reason: 'Killing', message: stop.message })
  }
  return stopping
}

/** Hooks that failed. Their output is left out: it may be secret. */
function hookEvents(views: readonly ContainerView[], { progressOf }: LifeInput, { pod, nodeName: host }: PodInput): KeyedEvent[] {
  return views.flatMap((view) => {
    const { postStart, preStop } = progressOf(view)
    const keyedEvents = (reason: string, message: string): KeyedEvent => {
      const key = `${reason} ${view.name} ${runOf(view, pod).attempt}`
      return { key, of: pod, host, fieldPath: fieldPathOf(view), type: 'Warning', reason, message }
    }
    return [
      ...(postStart?.state === 'done' && postStart.failure !== undefined
        ? [keyedEvents('FailedPostStartHook', 'PostStartHook failed')]
        : []),
      ...(preStop?.state === 'done' && preStop.failure !== undefined ? [keyedEvents('FailedPreStopHook', 'PreStopHook failed')] : []),
    ]
  })
}
