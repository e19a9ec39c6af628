/**
 * Which stage a pod takes next, and when: a pure function of the pod and the table. Randomness comes from the pod's uid,
 * and time from its status, so that a restart neither repeats nor delays any stage.
 */
import { createHash } from 'node:crypto'
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { findCondition } from '../../../kube/conditions.ts'
import { parseDuration } from '../../../kube/go-duration.ts'
import type { Point, Stage } from './stages.ts'

/** On a pod: how long it runs before it ends, as `30s`; and with which exit code. */
const RUN_FOR_ANNOTATION = 'sluice.dev/simulated-run-for'
export const EXIT_CODE_ANNOTATION = 'sluice.dev/simulated-exit-code'

export interface NextStage {
  stage: Stage
  dueAtMs: number
}

export function nextStage(pod: Pod, stages: readonly Stage[]): NextStage | undefined {
  const point = pointOf(pod)
  if (point === undefined) return undefined
  const own = askedFor(pod, point)
  const fitting = own === undefined ? stages.filter((stage) => fits(stage, pod, point)) : [own]
  const attempt = String(restartsOf(pod))
  const stage = draw(fitting, chance(pod, 'stage', point, attempt))
  if (stage === undefined) return undefined
  const jitterMs = (stage.jitterMs ?? 0) * chance(pod, 'jitter', stage.name, attempt)
  return { stage, dueAtMs: enteredAtMs(pod, point) + stage.delayMs + Math.floor(jitterMs) }
}

export function pointOf(pod: Pod): Point | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return 'terminating'
  const { phase, startTime, containerStatuses } = pod.status ?? {}
  if (phase === 'Succeeded' || phase === 'Failed') return undefined
  if (phase === 'Running') return (containerStatuses ?? []).some((status) => status.state?.waiting !== undefined) ? 'crashed' : 'running'
  return startTime === undefined ? 'bound' : 'initializing'
}

/** restartPolicy says whether a pod is meant to end on its own. */
const isMeantToEnd = (pod: Pod): boolean => (pod.spec?.restartPolicy ?? 'Always') !== 'Always'

export const restartsOf = (pod: Pod): number =>
  Math.max(0, ...(pod.status?.containerStatuses ?? []).map((status) => status.restartCount ?? 0))

function fits(stage: Stage, pod: Pod, point: Point): boolean {
  if (stage.from !== point || stage.weight === 0) return false
  if (stage.ends !== undefined && stage.ends !== isMeantToEnd(pod)) return false
  return stage.initializes === undefined || stage.initializes === (pod.spec?.initContainers ?? []).length > 0
}

/** The pod's own exit code takes precedence over the table. */
function askedFor(pod: Pod, point: Point): Stage | undefined {
  const annotations = pod.metadata.annotations ?? {}
  const runFor = annotations[RUN_FOR_ANNOTATION]
  const code = annotations[EXIT_CODE_ANNOTATION]
  if (point !== 'running' || (runFor === undefined && code === undefined)) return undefined
  const delayMs = runFor === undefined ? 1000 : (durationMs(runFor) ?? 1000)
  const exitCode = code !== undefined && /^\d{1,3}$/.test(code) ? Number(code) : 0
  const isRestarted = pod.spec?.restartPolicy === 'OnFailure' ? exitCode !== 0 : !isMeantToEnd(pod)
  return { name: 'pod-as-asked', from: 'running', to: isRestarted ? 'crashed' : exitCode === 0 ? 'succeeded' : 'failed', delayMs, exitCode }
}

function durationMs(text: string): number | undefined {
  const parsed = parseDuration(text)
  return parsed.value === undefined ? undefined : Math.max(0, Number(parsed.value / 1_000_000n))
}

function draw(stages: readonly Stage[], chance: number): Stage | undefined {
  const total = stages.reduce((sum, stage) => sum + (stage.weight ?? 1), 0)
  let left = chance * total
  for (const stage of stages) {
    left -= stage.weight ?? 1
    if (left < 0) return stage
  }
  return stages[stages.length - 1]
}

/** A number in [0, 1), fixed for this pod and purpose. */
function chance(pod: Pod, ...of: readonly string[]): number {
  const hash = createHash('sha256')
    .update(JSON.stringify([pod.metadata.uid, ...of]))
    .digest()
  return hash.readUInt32BE(0) / 2 ** 32
}

/** When the pod reached its current point, according to its status. */
function enteredAtMs(pod: Pod, point: Point): number {
  const { status, metadata } = pod
  const scheduled = findCondition(status?.conditions as { type: string; lastTransitionTime?: string }[] | undefined, 'PodScheduled')
  const containers = status?.containerStatuses ?? []
  const times: Record<Point, (string | null | undefined)[]> = {
    bound: [scheduled?.lastTransitionTime],
    initializing: [status?.startTime],
    running: containers.map((container) => container.state?.running?.startedAt),
    crashed: containers.map((container) => container.lastState?.terminated?.finishedAt),
    terminating: [metadata.deletionTimestamp],
  }
  const known = [metadata.creationTimestamp, ...times[point]].map((time) => (typeof time === 'string' ? Date.parse(time) : Number.NaN))
  const latest = Math.max(...known.filter((ms) => !Number.isNaN(ms)))
  if (point === 'terminating') return latest - (metadata.deletionGracePeriodSeconds ?? 0) * 1000
  return Number.isFinite(latest) ? latest : 0
}
