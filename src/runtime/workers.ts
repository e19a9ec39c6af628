/**
 * The loop under every controller: takes keys from a queue, processes a bounded number of them at once, and requeues what
 * failed. What a pass does is up to the caller; when and how often it runs is decided here.
 */

import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/error-text.ts'
import type { Random } from '../base/random.ts'
import { ApiError, isConflict } from '../client/errors.ts'
import type { Failure as RecordedFailure } from './controller.ts'
import type { ControllerMetrics } from './metrics.ts'
import { createWorkQueue, type WorkQueue } from './work-queue.ts'

/** The result of one pass over one key: for metrics and logs. */
export interface Pass {
  controller: string
  key: string
  result: 'done' | 'conflict' | 'failed'
  /** Requests that may have changed something. */
  writes: number
  durationMs: number
}

export interface Observer {
  metrics?: ControllerMetrics
  /** Called once for each failure, before the retry. Conflicts are normal and not reported. */
  onError?(error: unknown, controller: string, key: string): void
  onPass?(pass: Pass): void
}

export interface WorkersOptions extends Observer {
  name: string
  clock: Clock
  random: Random
  concurrency: number
  /** Among ready keys of one priority, the highest rank is taken first (default: in order of arrival). */
  rankOf?(key: string): number
  /** One pass; returns how many writes it sent, or undefined when it could not begin yet and its key will be enqueued again. */
  work(key: string): Promise<number | undefined>
}

export interface Workers {
  readonly queue: WorkQueue
  /** Nothing is taken from the queue before this call. */
  start(): void
  readonly isStopped: boolean
  /** Why the last pass over a key failed, conflicts aside. */
  lastFailure(key: string): Failure | undefined
  /** A line per key that is not settled: being processed, waiting its turn, or failed and to be retried. */
  busy(): string[]
  /** No further pass begins; resolves when those in progress are over. */
  stop(): Promise<void>
}

type Failure = RecordedFailure & { isConflict: boolean }

/** A conflict after a failure does not replace it. */
function failureOf(error: unknown, before: Failure | undefined): Failure {
  if (isConflict(error) && before !== undefined) return before
  const message = messageOf(error)
  const answer = error instanceof ApiError ? { code: error.code, reason: error.reason } : {}
  return { message, ...answer, isConflict: isConflict(error) }
}

export function createWorkers(options: WorkersOptions): Workers {
  const { name, clock } = options
  const underway = new Map<string, Promise<void>>()
  const failures = new Map<string, Failure>()
  let hasStarted = false
  let isStopped = false
  let isScheduled = false
  const onTaken = (waitedMs: number): void => options.metrics?.waited(name, waitedMs)
  const queue = createWorkQueue({ clock, random: options.random, rankOf: options.rankOf, onReady: schedule, onTaken })
  options.metrics?.watchQueue(name, () => ({ depth: queue.depth, waiting: queue.waiting, retrying: failures.size }))

  /** Never in the middle of a cache change: a list is taken in completely before any pass runs. */
  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    queueMicrotask(() => {
      isScheduled = false
      pump()
    })
  }

  function pump(): void {
    while (hasStarted && !isStopped && underway.size < options.concurrency) {
      const key = queue.take()
      if (key === undefined) return
      const pass = run(key).finally(() => {
        underway.delete(key)
        queue.done(key)
        schedule()
      })
      underway.set(key, pass)
    }
  }

  async function run(key: string): Promise<void> {
    const startedMs = clock.now()
    const report = (result: Pass['result'], writes: number): void => {
      const pass = { controller: name, key, result, writes, durationMs: clock.now() - startedMs }
      options.metrics?.pass(pass)
      options.onPass?.(pass)
    }
    try {
      const yielded = clock.yieldIfDue?.()
      if (yielded !== undefined) await yielded
      const writes = await options.work(key)
      if (writes === undefined) return
      queue.forget(key)
      failures.delete(key)
      report('done', writes)
    } catch (error) {
      if (isStopped) return
      failures.set(key, failureOf(error, failures.get(key)))
      // In a conflict, the object changed while we decided: the key runs again when the cache shows that, or after a delay.
      queue.addFailed(key)
      if (!isConflict(error)) options.onError?.(error, name, key)
      report(isConflict(error) ? 'conflict' : 'failed', 0)
    }
  }

  return {
    queue,
    start() {
      hasStarted = true
      schedule()
    },
    get isStopped() {
      return isStopped
    },
    busy: () => [
      ...[...underway.keys()].map((key) => `${name} works on ${key}`),
      ...(queue.depth > 0 ? [`${name} has ${queue.depth} keys to work on`] : []),
      ...[...failures].map(([key, { message }]) => `${name} failed on ${key} and will try again: ${message}`),
    ],
    lastFailure(key) {
      const failure = failures.get(key)
      return failure === undefined || failure.isConflict ? undefined : failure
    },
    async stop() {
      isStopped = true
      queue.close()
      await Promise.all(underway.values())
    },
  }
}
