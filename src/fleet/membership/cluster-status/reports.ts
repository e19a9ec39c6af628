/**
 * What is known about each member at the moment: whether it answers (by heartbeat) and what it has. Monitoring begins when
 * a cluster is first asked about and ends when it is forgotten. A heartbeat writes nothing and blocks nothing; it enqueues
 * the controller only when it may change the status of the cluster.
 */
import { type Clock, sleep } from '../../../base/clock.ts'
import type { Random } from '../../../base/random.ts'
import type { Client } from '../../../client/client.ts'
import type { Member, Members } from '../../../client/members.ts'
import type { Signal } from '../../../runtime/controller.ts'
import type { FleetMeasures } from '../../metrics/measures.ts'
import { followMember, type MemberState } from './member-state.ts'
import { type Health, nextStreak, type Streak, type Thresholds } from './readiness.ts'
import type { ReportedSummaries } from './reported-summaries.ts'
import type { Summary } from './sums.ts'

export interface ClusterStatusOptions extends Thresholds {
  /** Between two heartbeats (default 10 s). */
  periodMs: number
  /** After which a heartbeat counts as not answered (default 10 s). */
  timeoutMs: number
  /** The shortest time between two writes while pods come and go (default 1 s). */
  summaryEveryMs: number
  /** After which discovery is read again although no definition changed (default 5 minutes). */
  discoveryPeriodMs: number
}

export const CLUSTER_STATUS_DEFAULTS: ClusterStatusOptions = Object.freeze({
  periodMs: 10_000,
  timeoutMs: 10_000,
  successThresholdMs: 30_000,
  failureThresholdMs: 30_000,
  summaryEveryMs: 1000,
  discoveryPeriodMs: 300_000,
})

export interface Report {
  streak: Streak
  /** Undefined when there is no connection to the member. */
  state: MemberState | undefined
}

export interface Reports extends Signal {
  /** Undefined while nothing is known yet; the key is enqueued once something is. */
  of(cluster: string): Report | undefined
  /** What is known about its nodes and pods at the moment; does not start monitoring. */
  summaryOf(cluster: string): Summary | undefined
  forget(cluster: string): void
}

export interface ReportsOptions {
  members: Members
  clock: Clock
  random: Random
  onError?(error: unknown, cluster: string): void
  measures?: Pick<FleetMeasures, 'heartbeat'>
  /** Lets others check whether the reported summary is up to date. */
  summaries?: ReportedSummaries
}

interface Watch {
  streak: Streak | undefined
  state: MemberState | undefined
  stop(): void
}

const PART = 'fleet.membership.cluster-status'

export function createReports(state: ReportsOptions, options: ClusterStatusOptions): Reports {
  const { members, clock, random } = state
  const background = clock.background ?? clock
  const watches = new Map<string, Watch>()
  let enqueue: ((cluster: string) => void) | undefined

  function begin(name: string): Watch {
    const member = members.get(name)
    const stopping = new AbortController()
    const watch: Watch = { streak: undefined, state: undefined, stop: () => stopping.abort() }
    const note = (health: Health): void => {
      if (stopping.signal.aborted) return
      const before = watch.streak
      const nowMs = clock.now()
      watch.streak = nextStreak(before, health, nowMs)
      if (health === 'ready') watch.state?.refresh()
      if (before?.health !== health || isUndecided(watch.streak, nowMs - options.periodMs, options)) enqueue?.(name)
    }
    // There may be no connection only *yet*: both its Cluster and its Secret take a moment to appear in the cache.
    if (member === undefined) watch.stop = background.after(options.periodMs, () => note('unconnected'))
    else {
      watch.state = followMember({ ...options, ...state, ...stateOptions(member, name) })
      void beat(member, note, stopping.signal)
    }
    watches.set(name, watch)
    return watch
  }

  const stateOptions = (member: Member, name: string) => ({
    member,
    part: PART,
    everyMs: options.summaryEveryMs,
    changed: () => enqueue?.(name),
    onError: (error: unknown) => state.onError?.(error, name),
  })

  async function beat(member: Member, note: (health: Health) => void, stopped: AbortSignal): Promise<void> {
    const client = member.clientFor(PART)
    // The first heartbeat is sent at once; then each cluster gets its own offset.
    let delayMs = options.periodMs * (0.5 + random.next() / 2)
    while (!stopped.aborted) {
      const askedMs = clock.now()
      note(await healthOf(client, { background, timeoutMs: options.timeoutMs, stopped }))
      if (!stopped.aborted) state.measures?.heartbeat(member.name, clock.now() - askedMs)
      await sleep(background, delayMs, stopped)
      delayMs = options.periodMs
    }
  }

  function end(name: string): void {
    const watch = watches.get(name)
    if (watch === undefined) return
    watches.delete(name)
    watch.stop()
    watch.state?.stop()
  }

  return {
    of(name) {
      if (enqueue === undefined) return undefined
      const { streak, state: known } = watches.get(name) ?? begin(name)
      return streak === undefined ? undefined : { streak, state: known }
    },
    summaryOf: (name) => watches.get(name)?.state?.summary(),
    forget: end,
    subscribe(call) {
      enqueue = (name) => call({ namespace: '', name })
      const unsubscribe = members.subscribe((name) => {
        if (!watches.has(name)) return
        end(name)
        begin(name)
        enqueue?.(name)
      })
      return () => {
        enqueue = undefined
        unsubscribe()
        for (const name of [...watches.keys()]) end(name)
      }
    },
  }
}

/** Whether the passing of time may still change the condition: one heartbeat beyond the threshold is enough. */
function isUndecided(streak: Streak, beforeMs: number, { successThresholdMs, failureThresholdMs }: Thresholds): boolean {
  const thresholdMs = streak.health === 'ready' ? successThresholdMs : failureThresholdMs
  return !(streak.health === 'ready' && streak.isFirst) && beforeMs - streak.sinceMs <= thresholdMs
}

interface Asking {
  background: Clock
  timeoutMs: number
  stopped: AbortSignal
}

async function healthOf(client: Client, how: Asking): Promise<Health> {
  const answer = await statusOf(client, '/readyz', how)
  const status = answer === NOT_FOUND ? await statusOf(client, '/healthz', how) : answer
  if (status === undefined) return 'unreachable'
  return status === OK ? 'ready' : 'unhealthy'
}

const OK = 200
const NOT_FOUND = 404

/** Undefined when no answer came in time. */
async function statusOf(client: Client, path: string, { background, timeoutMs, stopped }: Asking): Promise<number | undefined> {
  const giveUp = new AbortController()
  const abort = (): void => giveUp.abort()
  const cancel = background.after(timeoutMs, abort)
  stopped.addEventListener('abort', abort, { once: true })
  try {
    const request = client.raw({ method: 'GET', path, signal: giveUp.signal })
    const response = await Promise.race([request, aborted(giveUp.signal)])
    response?.cancel()
    return response?.status
  } catch {
    // Whatever the cause, it has not answered.
    return undefined
  } finally {
    cancel()
    stopped.removeEventListener('abort', abort)
  }
}

/** Not every transport gives up on its own. */
const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
