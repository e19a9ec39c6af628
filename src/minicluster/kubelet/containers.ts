/**
 * The containers of a pod as the kubelet sees them: which list each is in, and the state of its newest run. The
 * machine's runs are authoritative; the recorded status stands in for runs the machine no longer knows.
 */
import type { Container, ContainerStateTerminated, ContainerStatus, Pod } from '../../kinds/kubernetes/types.ts'
import type { RunId, RunState } from './container-machine.ts'

/** `sidecar`: an init container with restartPolicy Always, which keeps running next to the main ones. */
export type Role = 'init' | 'sidecar' | 'main'

export type Run = RunId & { state: RunState }

export interface ContainerView {
  name: string
  role: Role
  spec: Container
  /** As the status has it. */
  reported: ContainerStatus | undefined
  /** Runs the machine knows, oldest first. */
  runs: readonly Run[]
  standing: Standing
}

/** How a run ended, as it is or will be reported. */
export interface End {
  exitCode: number
  reason: string
  message?: string
  signal?: number
  startedAtMs: number
  finishedAtMs: number
}

export type Standing =
  | { is: 'absent'; nextAttempt: number }
  /** The machine was asked to start it, and has not answered yet. */
  | { is: 'asked'; attempt: number }
  | { is: 'starting'; attempt: number }
  | { is: 'running'; attempt: number; startedAtMs: number }
  /** The program ended; its autopsy is not finished yet. */
  | { is: 'ending'; attempt: number; state: Extract<RunState, { phase: 'exited' }> }
  | { is: 'ended'; attempt: number; end: End /** As the status has it already. */; reported: ContainerStateTerminated | undefined }

/** What was found out about a run after its end. */
export interface Autopsy {
  message?: string
  /** Set when it did not end for a reason of its own. */
  reason?: string
  exitCode?: number
}

const SCHEME = 'sluice://'

export const containerIdOf = (run: RunId): string => `${SCHEME}${run.podUid}/${run.container}/${run.attempt}`

/** The attempt a status is about; undefined when it names none of ours. */
function attemptOf(containerID: string | undefined): number | undefined {
  if (containerID === undefined || !containerID.startsWith(SCHEME)) return undefined
  const attempt = Number(containerID.slice(containerID.lastIndexOf('/') + 1))
  return Number.isInteger(attempt) && attempt >= 0 ? attempt : undefined
}

export const isLive = (standing: Standing): boolean => standing.is !== 'absent' && standing.is !== 'ended'

export const fieldPathOf = ({ role, name }: Pick<ContainerView, 'role' | 'name'>): string =>
  `spec.${role === 'main' ? 'containers' : 'initContainers'}{${name}}`

export interface ViewInput {
  pod: Pod
  runs: readonly Run[]
  autopsyOf(run: RunId): Autopsy | undefined
  /** The machine was asked to start this run and has not answered yet. */
  isAsked(run: RunId): boolean
  nowMs: number
}

/** All containers of a pod: the init containers in their order, then the main ones. */
export function containersOf(input: ViewInput): ContainerView[] {
  const { spec, status } = input.pod
  const view = (container: Container, isInit: boolean): ContainerView => {
    const name = container.name ?? ''
    const reported = (isInit ? status?.initContainerStatuses : status?.containerStatuses)?.find((one) => one.name === name)
    const runs = input.runs.filter((run) => run.container === name)
    const role: Role = !isInit ? 'main' : container.restartPolicy === 'Always' ? 'sidecar' : 'init'
    const standing = standingOf(runs, reported, input)
    const attempt = nextAttempt({ standing, reported })
    const isAsked = !isLive(standing) && input.isAsked({ podUid: input.pod.metadata.uid ?? '', container: name, attempt })
    return { name, role, spec: container, reported, runs, standing: isAsked ? { is: 'asked', attempt } : standing }
  }
  return [
    ...(spec?.initContainers ?? []).map((container) => view(container, true)),
    ...(spec?.containers ?? []).map((container) => view(container, false)),
  ]
}

/** The attempt that would be started next: never one that the machine or the status knows. */
export function nextAttempt({ standing, reported }: Pick<ContainerView, 'standing' | 'reported'>): number {
  if (standing.is === 'absent') return standing.nextAttempt
  return Math.max(standing.attempt, reported?.restartCount ?? 0) + 1
}

function standingOf(runs: readonly Run[], reported: ContainerStatus | undefined, input: ViewInput): Standing {
  const newest = runs.at(-1)
  const reportedAttempt = attemptOf(reported?.containerID)
  if (newest === undefined || (reportedAttempt !== undefined && reportedAttempt > newest.attempt))
    return fromStatus(reported, reportedAttempt, input.nowMs)
  const { state, attempt } = newest
  if (state.phase === 'starting') return { is: 'starting', attempt }
  if (state.phase === 'running') return { is: 'running', attempt, startedAtMs: state.startedAtMs }
  const record = recordOf(reported, containerIdOf(newest))
  if (record !== undefined) return { is: 'ended', attempt, end: endOfRecord(record, state), reported: record }
  if (state.phase === 'failed') {
    const atMs = state.atMs ?? input.nowMs
    const end = { exitCode: 128, reason: state.reason, message: state.message, startedAtMs: atMs, finishedAtMs: atMs }
    return { is: 'ended', attempt, end, reported: undefined }
  }
  const autopsy = input.autopsyOf(newest)
  if (autopsy === undefined) return { is: 'ending', attempt, state }
  const { exitCode, signal, startedAtMs, finishedAtMs } = state
  const end = { exitCode, signal, startedAtMs, finishedAtMs, reason: exitCode === 0 ? 'Completed' : 'Error', ...autopsy }
  return { is: 'ended', attempt, end, reported: undefined }
}

/** The end of a run as it was reported before: once reported, it does not change. */
export function recordOf(reported: ContainerStatus | undefined, containerID: string): ContainerStateTerminated | undefined {
  return [reported?.state?.terminated, reported?.lastState?.terminated].find((one) => one?.containerID === containerID)
}

/** Uses the machine's times where it has them: the status has only whole seconds. */
function endOfRecord(record: ContainerStateTerminated, state: RunState | undefined): End {
  const exact = state?.phase === 'exited' ? state : undefined
  return {
    exitCode: record.exitCode ?? 0,
    reason: record.reason ?? '',
    message: record.message,
    signal: record.signal,
    startedAtMs: exact?.startedAtMs ?? parseMs(record.startedAt),
    finishedAtMs: exact?.finishedAtMs ?? parseMs(record.finishedAt),
  }
}

/** The machine knows no such run (its directory was emptied): what was reported is all there is. */
function fromStatus(reported: ContainerStatus | undefined, attempt: number | undefined, nowMs: number): Standing {
  if (reported === undefined || attempt === undefined) return { is: 'absent', nextAttempt: reported?.restartCount ?? 0 }
  const record = recordOf(reported, reported.containerID ?? '')
  if (record !== undefined) return { is: 'ended', attempt, end: endOfRecord(record, undefined), reported: record }
  const end = {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    startedAtMs: parseMs(reported.state?.running?.startedAt),
    finishedAtMs: nowMs,
  }
  return { is: 'ended', attempt, end, reported: undefined }
}

export function parseMs(time: string | undefined): number {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? 0 : ms
}

/** Whether a container that ended this way is to run again, by its own policy and rules or by the pod's. */
export function shouldRestart(view: Pick<ContainerView, 'spec' | 'role'>, podPolicy: string | undefined, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules } = view.spec
  const rule = (restartPolicyRules ?? []).find(({ exitCodes }) => {
    const isListed = (exitCodes?.values ?? []).includes(exitCode)
    return exitCodes !== undefined && (exitCodes.operator === 'NotIn' ? !isListed : isListed)
  })
  if (rule?.action === 'Restart') return true
  const policy = restartPolicy ?? podPolicy ?? 'Always'
  // An init container that succeeded is done, whatever the policy.
  if (view.role === 'init' && exitCode === 0) return false
  if (policy === 'OnFailure') return exitCode !== 0
  return policy !== 'Never'
}
