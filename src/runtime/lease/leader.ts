/**
 * Leader election by a Lease, on the wire as client-go does it: the holder renews the lease; others take it when it has not
 * changed for its duration *by their own clock*, so clocks need not agree. A leader that cannot renew in time must stop
 * writing before another may begin: `onLost` is called at the renew deadline, which is before the lease expires.
 */
import type { Clock } from '../../base/clock.ts'
import { sleep } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Client } from '../../client/client.ts'
import { ifFound, isAlreadyExists, isConflict } from '../../client/errors.ts'
import { LEASES } from '../../kinds/kubernetes/resources.ts'
import type { Lease } from '../../kinds/kubernetes/types.ts'

export interface LeaderOptions {
  client: Client
  clock: Clock
  random: Random
  namespace: string
  name: string
  /** Our identity: unique per process. */
  identity: string
  /** Others wait this long after the last renewal they saw (default 15 s). */
  leaseMs?: number
  /** Without a renewal for this long we stop leading (default 10 s). */
  renewDeadlineMs?: number
  /** Between tries (default 2 s). */
  retryMs?: number
  onStarted(): void
  onLost(): void
  /** Another process leads. */
  onOther?(identity: string): void
  onError?(error: unknown): void
}

export interface Leadership {
  readonly isLeader: boolean
  /** Releases the lease, so that the next leader need not wait. */
  stop(): Promise<void>
}

export function leadWhenElected(options: LeaderOptions): Leadership {
  const { clock, random } = options
  const leaseMs = options.leaseMs ?? 15_000
  const renewDeadlineMs = options.renewDeadlineMs ?? 10_000
  const retryMs = options.retryMs ?? 2000
  const stopping = new AbortController()
  /** The lease as last seen, and when by our clock. */
  let seen: { lease: Lease; atMs: number } | undefined
  let isLeader = false
  let cancelWatchdog: (() => void) | undefined
  let other = ''

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const startedMs = clock.now()
      const isHeld = await attempt()
      if (stopping.signal.aborted) return
      if (isHeld) hold(startedMs)
      else if (seen?.lease.spec?.holderIdentity !== options.identity) lose()
      const jitter = isLeader ? 0 : random.next() * retryMs * 0.2
      await sleep(clock, retryMs + jitter, stopping.signal)
    }
  }

  function hold(sinceMs: number): void {
    cancelWatchdog?.()
    cancelWatchdog = clock.after(Math.max(0, sinceMs + renewDeadlineMs - clock.now()), lose)
    if (isLeader) return
    isLeader = true
    options.onStarted()
  }

  function lose(): void {
    cancelWatchdog?.()
    if (!isLeader) return
    isLeader = false
    options.onLost()
  }

  /** One attempt to take or renew it; true when the lease is ours now. */
  async function attempt(): Promise<boolean> {
    const late = new AbortController()
    // An attempt must not outlive the deadline: a late answer could make us believe that we still lead.
    const cancel = clock.after(renewDeadlineMs / 2, () => late.abort(new Error('the lease could not be renewed in time')))
    const until = AbortSignal.any([stopping.signal, late.signal])
    try {
      const lease = await read(until)
      if (lease === undefined) return await create(until)
      observe(lease)
      const holder = lease.spec?.holderIdentity ?? ''
      if (holder !== '' && holder !== options.identity && !hasExpired()) {
        if (holder !== other) options.onOther?.(holder)
        other = holder
        return false
      }
      observe(await options.client.update(LEASES, taken(lease), { signal: until }))
      other = ''
      return true
    } catch (error) {
      if (stopping.signal.aborted) return false
      if (!isConflict(error) && !isAlreadyExists(error)) options.onError?.(error)
      return false
    } finally {
      cancel()
    }
  }

  async function read(signal: AbortSignal): Promise<Lease | undefined> {
    return ifFound(options.client.get<Lease>(LEASES, { namespace: options.namespace, name: options.name }, { signal }))
  }

  async function create(signal: AbortSignal): Promise<boolean> {
    const metadata = { namespace: options.namespace, name: options.name }
    const lease: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata }
    observe(await options.client.create(LEASES, taken(lease), { signal }))
    return true
  }

  function observe(lease: Lease): void {
    if (seen?.lease.metadata.resourceVersion !== lease.metadata.resourceVersion) seen = { lease, atMs: clock.now() }
  }

  const hasExpired = (): boolean => {
    const durationMs = (seen?.lease.spec?.leaseDurationSeconds ?? leaseMs / 1000) * 1000
    return seen !== undefined && clock.now() >= seen.atMs + durationMs
  }

  function taken(lease: Lease): Lease {
    const { spec = {} } = lease
    const now = `${new Date(clock.now()).toISOString().slice(0, -1)}000Z`
    const isOurs = spec.holderIdentity === options.identity
    return {
      ...lease,
      spec: {
        ...spec,
        holderIdentity: options.identity,
        leaseDurationSeconds: Math.ceil(leaseMs / 1000),
        acquireTime: isOurs ? spec.acquireTime : now,
        renewTime: now,
        leaseTransitions: (spec.leaseTransitions ?? 0) + (isOurs || spec.holderIdentity === undefined ? 0 : 1),
      },
    }
  }

  async function release(): Promise<void> {
    const lease = seen?.lease
    if (!isLeader || lease === undefined) return
    isLeader = false
    try {
      await options.client.update(LEASES, { ...lease, spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 } })
    } catch (error) {
      // The next leader then waits until the lease expires.
      if (!isConflict(error)) options.onError?.(error)
    }
  }

  const running = run()
  return {
    get isLeader() {
      return isLeader
    },
    async stop() {
      stopping.abort()
      cancelWatchdog?.()
      await running
      await release()
    },
  }
}
