/** What a worker answers: blocks, what is posted to it by the master, its peers and clients, and how it is. */
import { HttpError } from '../http/errors.ts'
import type { Answer, Exchange, Route, ServerLimits } from '../http/server.ts'
import { blockKeyOf } from '../protocol/block.ts'
import type { Access } from './access.ts'
import type { Asked, BlockAnswers } from './block-answers.ts'
import type { ClearingReport } from './clearing.ts'
import type { Loaded } from './loads.ts'
import { metricsText } from './metrics.ts'
import type { HandoverReport, WorkerLimits, WorkerReport } from './options.ts'
import { holdsOf, loadOf, type PostedLoad, usesOf, versionsOf } from './posted.ts'

export interface WorkerRoutesOptions {
  blocks: BlockAnswers
  access: Access
  report: () => WorkerReport
  isReady: () => boolean
  /** Begins or goes on to hand over. */
  leave: () => HandoverReport
  /** Begins or goes on to remove all blocks. */
  clear: () => ClearingReport
  /** Stops that, and serves as before. */
  stay: () => Promise<HandoverReport>
  load: (posted: PostedLoad) => Promise<Loaded>
  /** Names of blocks that a client read directly. */
  onUses: (names: readonly string[]) => void
  onHolds: (files: { hold: readonly string[]; release: readonly string[] }) => void
  onVersions: (versions: readonly (readonly [string, string | undefined])[]) => void
}

const MOST_BODY_BYTES = 256 * 1024
const MOST_CONNECTIONS = 512
const HEADERS_MS = 10_000

export const serverLimits = ({ idleMs, closeMs }: Pick<WorkerLimits, 'idleMs' | 'closeMs'>): Partial<ServerLimits> => ({
  headersMs: Math.min(HEADERS_MS, idleMs),
  requestMs: 2 * idleMs,
  idleMs,
  closeMs,
  connections: MOST_CONNECTIONS,
})

export const workerRoutes = (options: WorkerRoutesOptions): Route[] => [
  ...blockRoutes(options.blocks),
  ...postRoutes(options),
  ...healthRoutes(options),
]

const BLOCK_PATH = '/v1/blocks/:fileId/:version/:index'

const blockRoutes = (blocks: BlockAnswers): Route[] => {
  const route = (method: string, answer: (asked: Asked) => Promise<void>): Route => ({
    method,
    path: BLOCK_PATH,
    async handle(exchange): Promise<Answer> {
      await answer(askedOf(exchange))
      return 'answered'
    },
  })
  return [
    route('GET', (asked) => blocks.get(asked)),
    route('HEAD', (asked) => blocks.head(asked)),
    route('PUT', (asked) => blocks.put(asked)),
  ]
}

/** A block that somebody waits for is sent to its end, also when the worker ends. */
function askedOf({ params, query, request, response, gone }: Exchange): Asked {
  const key = blockKeyOf(params.get('fileId') ?? '', params.get('version') ?? '', params.get('index') ?? '')
  if (key === undefined) throw new HttpError(400, 'BadName', 'this names no block')
  return { key, query, request, response, signal: gone }
}

const postRoutes = ({ access, leave, stay, clear, load, onUses, onHolds, onVersions }: WorkerRoutesOptions): Route[] => {
  const post = (path: string, isAllowed: Access['signed'], take: (body: Buffer) => void): Route => ({
    method: 'POST',
    path,
    mostBodyBytes: MOST_BODY_BYTES,
    async handle({ body, request, response }): Promise<Answer> {
      const sent = await body()
      isAllowed(request, sent)
      take(sent)
      response.writeHead(204).end()
      return 'answered'
    },
  })
  return [
    {
      method: 'POST',
      path: '/v1/leave',
      mostBodyBytes: MOST_BODY_BYTES,
      async handle({ body, request }) {
        access.signed(request, await body())
        return { status: 202, json: leave() }
      },
    },
    {
      method: 'POST',
      path: '/v1/clear',
      mostBodyBytes: MOST_BODY_BYTES,
      async handle({ body, request }) {
        access.signed(request, await body())
        return { status: 202, json: clear() }
      },
    },
    {
      method: 'POST',
      path: '/v1/stay',
      mostBodyBytes: MOST_BODY_BYTES,
      async handle({ body, request }) {
        access.signed(request, await body())
        return { json: await stay() }
      },
    },
    {
      method: 'POST',
      path: '/v1/loads',
      mostBodyBytes: MOST_BODY_BYTES,
      async handle({ body, request }) {
        const sent = await body()
        access.signed(request, sent)
        return { json: await load(loadOf(sent)) }
      },
    },
    post(
      '/v1/uses',
      (request, sent) => void access.reader(request, sent === 'streamed' ? undefined : sent),
      (sent) => onUses(usesOf(sent)),
    ),
    post('/v1/holds', access.signed, (sent) => onHolds(holdsOf(sent))),
    post('/v1/versions', access.signed, (sent) => onVersions(versionsOf(sent))),
  ]
}

const healthRoutes = ({ report, isReady }: WorkerRoutesOptions): Route[] => [
  { method: 'GET', path: '/v1/state', handle: () => ({ json: report() }) },
  { method: 'GET', path: '/metrics', handle: () => ({ text: metricsText(report()) }) },
  { method: 'GET', path: '/healthz', handle: () => ({ text: 'ok\n' }) },
  {
    method: 'GET',
    path: '/readyz',
    handle() {
      if (!isReady()) throw new HttpError(503, 'NotReady', 'the worker is not registered with the master yet')
      return { text: 'ok\n' }
    },
  },
]
