/** What the master answers: to clients with tickets, to its workers, and to the commands that are run in its pod. */
import { type Clock, sleep } from '../../base/clock.ts'
import { HttpError } from '../http/errors.ts'
import type { Exchange, Route } from '../http/server.ts'
import { backupLines } from '../inventory/backup.ts'
import type { Inventory } from '../inventory/inventory.ts'
import type { Access } from './access.ts'
import { type Beat, readBeat } from './beat.ts'
import { inventoryLines } from './inventory-feed.ts'
import { loadRequestOf } from './load.ts'
import type { Loads } from './loads.ts'
import { type Members, membershipOf } from './members.ts'
import { metricsText } from './metrics.ts'
import type { Preload } from './preload.ts'
import type { Report } from './report.ts'

export interface MasterState {
  access: Access
  inventory: Inventory
  clock: Clock
  members(): Members
  report(): Report
  isEnding(): boolean
  /** False: there are too many workers. */
  onBeat(beat: Beat): boolean
  /** Begins or goes on; resolves to how far it is. */
  leave(worker: { name: string; isAgain: boolean }, signal: AbortSignal): Promise<object>
  /** Takes back a worker that is leaving. */
  stay(worker: string, signal: AbortSignal): Promise<object>
  /** Begins or goes on to remove all blocks; resolves to how far it is. */
  clear(signal: AbortSignal): Promise<object>
  preload: Pick<Preload, 'begin' | 'progress'>
  loads: Pick<Loads, 'begin' | 'progress' | 'end'>
  /** Reads the configuration again, sets its mounts, and resolves to their paths. */
  reloadMounts(): Promise<readonly string[]>
}

const SMALL_BODY_BYTES = 64 * 1024
/** How long `POST /v1/mounts` waits for sources to answer. */
const MOUNT_MS = 10_000
/** How long `POST /v1/sync` waits for the listing. */
const SYNC_MS = 20_000

export const masterRoutes = (state: MasterState): Route[] => [
  ...clientRoutes(state),
  ...workerRoutes(state),
  ...commandRoutes(state),
  ...loadRoutes(state),
  ...backupRoutes(state),
  ...healthRoutes(state),
]

const clientRoutes = ({ access, inventory, clock, members }: MasterState): Route[] => [
  {
    method: 'POST',
    path: '/v1/tickets',
    mostBodyBytes: SMALL_BODY_BYTES,
    handle: async ({ body }) => ({ json: await access.ticket(jsonOf(await body())) }),
  },
  {
    method: 'GET',
    path: '/v1/membership',
    handle(exchange) {
      access.readable(exchange)
      return { json: membershipOf(members()) }
    },
  },
  {
    method: 'GET',
    path: '/v1/inventory',
    handle: async (exchange) => ({ lines: await inventoryLines({ inventory, clock, readable: access.readable(exchange) }, exchange) }),
  },
]

const workerRoutes = ({ access, inventory, members, onBeat }: MasterState): Route[] => [
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
    mostBodyBytes: SMALL_BODY_BYTES,
    async handle(exchange) {
      const beat = readBeat(jsonOf(await access.requireKey(exchange)))
      if (!onBeat(beat)) throw new HttpError(507, 'TooMany', 'there are too many workers')
      return { json: membershipOf(members()) }
    },
  },
]

const commandRoutes = ({ access, inventory, clock, leave, stay, clear, preload, reloadMounts }: MasterState): Route[] => [
  {
    method: 'POST',
    path: '/v1/workers/:name/leave',
    async handle(exchange) {
      await access.requireKey(exchange)
      const asked = { name: exchange.params.get('name') ?? '', isAgain: exchange.query.get('again') === 'true' }
      return { json: await leave(asked, exchange.signal) }
    },
  },
  {
    method: 'POST',
    path: '/v1/workers/:name/stay',
    async handle(exchange) {
      await access.requireKey(exchange)
      return { json: await stay(exchange.params.get('name') ?? '', exchange.signal) }
    },
  },
  {
    method: 'POST',
    path: '/v1/clear',
    async handle(exchange) {
      await access.requireKey(exchange)
      return { json: await clear(exchange.signal) }
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
  {
    method: 'POST',
    path: '/v1/mounts',
    async handle(exchange) {
      await access.requireKey(exchange)
      return { json: await mountPaths(await reloadMounts(), { inventory, clock, exchange }) }
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

const loadRoutes = ({ access, loads }: MasterState): Route[] => [
  {
    method: 'POST',
    path: '/v1/loads/:id',
    async handle(exchange) {
      const request = loadRequestOf(jsonOf(await access.requireKey(exchange)))
      return { json: loads.begin(loadIdOf(exchange), request) }
    },
  },
  {
    method: 'GET',
    path: '/v1/loads/:id',
    async handle(exchange) {
      await access.requireKey(exchange)
      return { json: loads.progress(loadIdOf(exchange)) }
    },
  },
  {
    method: 'DELETE',
    path: '/v1/loads/:id',
    async handle(exchange) {
      await access.requireKey(exchange)
      await loads.end(loadIdOf(exchange))
      return { json: {} }
    },
  },
]

const backupRoutes = ({ access, inventory }: MasterState): Route[] => [
  {
    method: 'GET',
    path: '/v1/backup',
    async handle(exchange) {
      await access.requireKey(exchange)
      if (!inventory.isComplete)
        throw new HttpError(409, 'NotListed', 'files are still being listed: try again when the dataset has its figures')
      return { lines: backupLines(inventory) }
    },
  },
]

const LOAD_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

function loadIdOf({ params }: Exchange): string {
  const id = params.get('id') ?? ''
  if (!LOAD_ID.test(id)) throw new HttpError(400, 'BadId', 'the id of a load is made of letters, digits, dots, dashes and underscores')
  return id
}

const healthRoutes = ({ report, members, isEnding }: MasterState): Route[] => [
  { method: 'GET', path: '/v1/report', handle: () => ({ json: report() }) },
  { method: 'GET', path: '/metrics', handle: () => ({ text: metricsText(report(), members()), type: 'text/plain; version=0.0.4' }) },
  { method: 'GET', path: '/healthz', handle: () => ({ text: 'ok' }) },
  { method: 'GET', path: '/readyz', handle: () => (isEnding() ? { status: 503, text: 'ending' } : { text: 'ok' }) },
]

interface Opening {
  inventory: Inventory
  clock: Clock
  exchange: Exchange
}

interface Mounted {
  mounted: string[]
  failed: { path: string; reason: string }[]
}

/** The paths that can be used: mounted means that the source has answered, not that its listing has ended. */
async function mountPaths(paths: readonly string[], { inventory, clock, exchange: { signal } }: Opening): Promise<Mounted> {
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

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) throw new HttpError(400, 'BadRequest', 'the body must be JSON')
    throw error
  }
}
