/**
 * How one container is stopped: the preStop hook, the stop signal, and SIGKILL when the grace period is over. Decided
 * anew on every pass from what has been done so far; after a restart of the kubelet hook and signal are repeated,
 * and a pod's own deadline still holds. Pure.
 */
import type { ContainerView } from './containers.ts'

/** What this process has done to one run; undefined fields were not started. */
export interface RunProgress {
  postStart?: HookProgress
  preStop?: HookProgress
  /** When the stop signal was sent. */
  termAtMs?: number
  killAtMs?: number
}

export type HookProgress = { state: 'running' } | { state: 'done'; beganAtMs: number; endedAtMs: number; failure?: string }

export interface Stop {
  view: ContainerView
  attempt: number
  /** Message of the event Killing. */
  message: string
  graceMs: number
  /** No SIGKILL before this; set for a deleted pod, whose deadline is in the object. */
  deadlineMs?: number
  /** Its turn has come: sidecars wait for the main containers and for those after them. */
  isItsTurn: boolean
}

export interface StopStep {
  preStop?: boolean
  signal?: string
  requeueAtMs?: number
}

/** However short the grace period, a program gets this long between the signals. */
const LEAST_GRACE_MS = 2000

export function stopStep(stop: Stop, progress: RunProgress, nowMs: number): StopStep {
  const { view, graceMs, deadlineMs } = stop
  const isOverdue = deadlineMs !== undefined && nowMs >= deadlineMs
  const hasHook = view.spec.lifecycle?.preStop !== undefined && graceMs > 0
  if (progress.termAtMs === undefined) {
    if (hasHook && progress.preStop === undefined && !isOverdue) return { preStop: true }
    // A hook times out at the end of the grace period; only a pod whose deadline moved closer does not wait for it.
    const isWaiting = (hasHook && progress.preStop?.state === 'running') || !stop.isItsTurn
    if (isWaiting && !isOverdue) return { requeueAtMs: deadlineMs }
    return { signal: stopSignalOf(view) }
  }
  const killAtMs = killTime(stop, progress, progress.termAtMs)
  if (nowMs < killAtMs) return { requeueAtMs: killAtMs }
  return progress.killAtMs === undefined ? { signal: 'SIGKILL' } : {}
}

function killTime({ graceMs, deadlineMs }: Stop, { preStop }: RunProgress, termAtMs: number): number {
  const least = termAtMs + LEAST_GRACE_MS
  if (deadlineMs !== undefined) return Math.max(deadlineMs, least)
  const spent = preStop?.state === 'done' ? preStop.endedAtMs - preStop.beganAtMs : 0
  return Math.max(termAtMs + graceMs - spent, least)
}

const stopSignalOf = (view: ContainerView): string => view.spec.lifecycle?.stopSignal ?? 'SIGTERM'
