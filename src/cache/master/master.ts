/**
 * The master of a runtime: its routes, and the loops behind them. Answers from memory; losing it costs new lookups a pause. What
 * must survive it is in the journals of membership and inventory.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import { HttpError } from '../http/errors.ts'
import { createHttpServer, type Exchange, type Route, type ServerLimits } from '../http/server.ts'
import type { Inventory } from '../inventory/inventory.ts'
import { type AccessOptions, createAccess } from './access.ts'
import { readBeat, readHandover } from './beat.ts'
import { createHitWindow } from './hits.ts'
import { inventoryLines } from './inventory-feed.ts'
import { type Amounts, beginLeaving, forgetSilent, heard, type Members, membershipOf, progressed } from './members.ts'
import type { MembersJournal } from './members-journal.ts'
import { metricsText } from './metrics.ts'
import { Preload, type PreloadOptions } from './preload.ts'
import { type Report, reportOf } from './report.ts'

export interface MasterOptions {
  access: Omit<AccessOptions, 'nowMs'>
  inventory: Inventory
  journal: MembersJournal
  blockBytes: number
  clock: Clock
  log: Log
  /** Reads the configuration again, sets its mounts, and resolves to their paths. */
  reloadMounts(): Promise<readonly string[]>
  /** `POST /v1/leave` of a worker; resolves to its answer. */
  askToLeave(address: string, signal: AbortSignal): Promise<unknown>
  /** How blocks get into the cache before they are read. */
  preload: Pick<PreloadOptions, 'replicas' | 'askToLoad' | 'isAutomatic'>
  limits?: Partial<ServerLimits>
}

export interface Master {
  listen(host: string, port: number): Promise<number>
  close(): Promise<void>
  members(): Members
  report(): Report
}

export interface LeaveProgress extends Amounts {
  state: 'leaving' | 'gone'
}

interface Mounted {
  mounted: string[]
  failed: { path: string; reason: string }[]
}

const LOOK_MS = 1000
/** How long `POST /v1/mounts` waits for sources to answer. */
const MOUNT_MS = 10_000
/** How long `POST /v1/sync` waits for the listing. */
const SYNC_MS = 20_000

export function createMaster(options: MasterOptions): Master {
  const { inventory, journal, clock, log, blockBytes } = options
  const access = createAccess({ ...options.access, nowMs: () => clock.now() })
  const hits = createHitWindow()
  let members = journal.load(clock.now())
  let stopLooking: (() => void) | undefined
  let isEnding = false

  function become(next: Members): void {
    if (next === members) return
    const before = members.epoch
    members = next
    if (next.epoch !== before) log.write('info', 'a new epoch', { epoch: next.epoch, workers: membershipOf(next).workers.length })
    try {
      journal.save(next)
    } catch (error) {
      log.write('warn', 'the journal of workers cannot be written', { error: messageOf(error) })
    }
  }

  function look(): void {
    become(forgetSilent(members, clock.now()))
    if (!isEnding) stopLooking = clock.after(LOOK_MS, look)
  }

  const preload = new Preload({ ...options.preload, inventory, membership: () => membershipOf(members), blockBytes, clock, log })
  const report = (): Report => reportOf({ inventory, members, reads: hits.reads(clock.now(), blockBytes) })

  async function leave(name: string, signal: AbortSignal): Promise<LeaveProgress> {
    const member = members.byName.get(name)
    if (member === undefined)
      throw new HttpError(404, 'NoSuchWorker', `there is no worker ${name}, or it has not been heard of for a while`)
    become(beginLeaving(members, name))
    // A heartbeat may have said that it is through before the last amounts were told.
    if (member.state !== 'gone' || (member.handover?.left ?? 1) > 0) {
      try {
        const handover = readHandover(await options.askToLeave(member.address, signal))
        if (handover !== undefined) become(progressed(members, name, handover))
      } catch (error) {
        // Asked again it goes on; silence ends it.
        log.write('warn', 'a worker does not answer to leaving', { worker: name, error: messageOf(error) })
      }
    }
    const now = members.byName.get(name)
    const { moved = 0, dropped = 0, left = 0 } = now?.handover ?? {}
    return { state: now === undefined || now.state === 'gone' ? 'gone' : 'leaving', moved, dropped, left }
  }

  const routes: Route[] = [
    {
      method: 'POST',
      path: '/v1/tickets',
      mostBodyBytes: 64 * 1024,
      handle: async ({ body }) => ({ json: await access.ticket(jsonOf(await body())) }),
    },
    {
      method: 'GET',
      path: '/v1/membership',
      handle(exchange) {
        access.readable(exchange)
        return { json: membershipOf(members) }
      },
    },
    {
      method: 'GET',
      path: '/v1/inventory',
      handle: async (exchange) => ({ lines: await inventoryLines({ inventory, clock, readable: access.readable(exchange) }, exchange) }),
    },
    {
      method: 'GET',
      path: '/v1/files/:fileId',
      async handle(exchange) {
        await access.requireKey(exchange)
        const file = inventory.file(exchange.params.get('fileId') ?? '')
        if (file === undefined) throw new HttpError(404, 'NoSuchFile', 'the dataset has no such file')
        return { json: file }
      },
    },
    {
      method: 'POST',
      path: '/v1/workers',
      mostBodyBytes: 64 * 1024,
      async handle(exchange) {
        const beat = readBeat(jsonOf(await access.requireKey(exchange)))
        const next = heard(members, beat, clock.now())
        if (next === undefined) throw new HttpError(507, 'TooMany', 'there are too many workers')
        hits.note(beat, clock.now())
        become(next)
        return { json: membershipOf(members) }
      },
    },
    {
      method: 'POST',
      path: '/v1/workers/:name/leave',
      async handle(exchange) {
        await access.requireKey(exchange)
        return { json: await leave(exchange.params.get('name') ?? '', exchange.signal) }
      },
    },
    {
      method: 'POST',
      path: '/v1/preload',
      async handle(exchange) {
        await access.requireKey(exchange)
        return { json: preload.begin() }
      },
    },
    {
      method: 'GET',
      path: '/v1/preload',
      async handle(exchange) {
        await access.requireKey(exchange)
        return { json: preload.progress() }
      },
    },
    { method: 'GET', path: '/v1/report', handle: () => ({ json: report() }) },
    { method: 'GET', path: '/metrics', handle: () => ({ text: metricsText(report(), members), type: 'text/plain; version=0.0.4' }) },
    { method: 'GET', path: '/healthz', handle: () => ({ text: 'ok' }) },
    { method: 'GET', path: '/readyz', handle: () => (isEnding ? { status: 503, text: 'ending' } : { text: 'ok' }) },
    {
      method: 'POST',
      path: '/v1/mounts',
      async handle(exchange) {
        await access.requireKey(exchange)
        return { json: await mountPaths(await options.reloadMounts(), exchange) }
      },
    },
    {
      method: 'POST',
      path: '/v1/sync',
      async handle(exchange) {
        await access.requireKey(exchange)
        const stopped = new AbortController()
        const isDone = await Promise.race([inventory.sync().then(() => true), sleep(clock, SYNC_MS, stopped.signal).then(() => false)])
        stopped.abort()
        // A listing may take hours: it goes on, and the report says how far it is.
        return { status: isDone ? 200 : 202, json: { revision: inventory.revision, isComplete: inventory.isComplete } }
      },
    },
  ]

  /** The paths that can be used: mounted means that the source has answered, not that its listing has ended. */
  async function mountPaths(paths: readonly string[], { signal }: Exchange): Promise<Mounted> {
    const statusOf = (path: string) => inventory.mounts().find((mount) => mount.path === path)
    const stateOf = (path: string) => statusOf(path)?.state
    const isOpen = () => paths.every((path) => stateOf(path) !== 'waiting' && stateOf(path) !== undefined)
    await new Promise<void>((resolve) => {
      const done = () => {
        stop()
        cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const stop = inventory.onChange(() => void (isOpen() && done()))
      const cancel = clock.after(MOUNT_MS, done)
      signal.addEventListener('abort', done, { once: true })
      if (isOpen()) done()
    })
    return {
      mounted: paths.filter((path) => stateOf(path) === 'listing' || stateOf(path) === 'listed'),
      failed: paths.flatMap((path) => {
        const { state, reason } = statusOf(path) ?? {}
        return state === 'failed' || state === 'waiting' ? [{ path, reason: reason ?? 'its source has not answered yet' }] : []
      }),
    }
  }

  const server = createHttpServer({ routes, log, limits: options.limits })
  return {
    async listen(host, port) {
      const listening = await server.listen(host, port)
      look()
      preload.start()
      return listening
    },
    async close() {
      isEnding = true
      stopLooking?.()
      await preload.close()
      await server.close()
    },
    members: () => members,
    report,
  }
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) throw new HttpError(400, 'BadRequest', 'the body must be JSON')
    throw error
  }
}
