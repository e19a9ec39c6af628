/** For tests of workers: a master and a source in memory, signatures, and requests over real connections. */
import { createHash, createHmac } from 'node:crypto'
import http from 'node:http'
import type { Clock } from '../../base/clock.ts'
import { DATASET, noLog, tierIn } from '../blocks/testing.ts'
import { type BlockKey, MIB } from '../protocol/block.ts'
import { fileIdOf, versionOf } from '../protocol/file.ts'
import type { WorkerEntry, WorkerState } from '../protocol/membership.ts'
import { signTicket } from '../protocol/ticket.ts'
import { type Source, SourceChanged } from '../sources/source.ts'
import { createWorker } from './create-worker.ts'
import type { MasterLink, RequestSigning, SignedRequest, Worker, WorkerOptions } from './options.ts'
import { blockTarget } from './peers.ts'

const RUNTIME_KEY = Buffer.alloc(32, 5)

const macOf = ({ method, target, body }: SignedRequest) =>
  createHmac('sha256', RUNTIME_KEY)
    .update(
      `${method} ${target} ${
        typeof body === 'string'
          ? body
          : createHash('sha256')
              .update(body ?? '')
              .digest('hex')
      }`,
    )
    .digest('hex')

const signing: RequestSigning = {
  sign: (request) => `Sluice-Key ${macOf(request)}`,
  isSigned: (authorization, request) => authorization === `Sluice-Key ${macOf(request)}`,
}

export const bearer = (subPath = '/', expiresAt = 9e9): string =>
  `Bearer ${signTicket(RUNTIME_KEY, { namespace: 'default', subPath, mode: 'read', expiresAt })}`

const realClock: Clock = {
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

export const fileKey = (path: string, content: Buffer, index = 0): BlockKey => ({
  fileId: fileIdOf(RUNTIME_KEY, path),
  version: versionOf({ size: content.length, etag: etagOf(content) }),
  index,
})

const etagOf = (content: Buffer) => createHash('sha256').update(content).digest('hex')

/** Files by path, read in pieces; a gate lets a test hold reads back, `failure` makes them fail. */
export class FakeSource implements Source {
  readonly files = new Map<string, Buffer>()
  reads = 0
  failure: Error | undefined
  pieceBytes = 64 * 1024
  /** Awaited before each piece but the first. */
  gate: Promise<void> = Promise.resolve()

  async list() {
    return { files: [] }
  }

  async stat() {
    return undefined
  }

  async *read(file: { path: string; etag?: string }, { start, end }: { start: number; end: number }, signal: AbortSignal) {
    this.reads++
    const content = this.files.get(file.path)
    if (content === undefined || etagOf(content) !== file.etag) throw new SourceChanged('it has changed')
    for (let at = start; at < end; at += this.pieceBytes) {
      if (at > start) await this.gate
      if (this.failure !== undefined) throw this.failure
      signal.throwIfAborted()
      yield content.subarray(at, Math.min(end, at + this.pieceBytes))
    }
  }

  async close() {}
}

/** Knows all workers that beat, and the files of one source. */
export class FakeMaster implements MasterLink {
  readonly workers = new Map<string, WorkerEntry>()
  readonly leaving = new Set<string>()
  previous: readonly WorkerEntry[] = []
  epoch = 0
  isDown = false
  /** How often it was asked for a file. */
  lookups = 0
  readonly #listed = new Map<string, { path: string; content: Buffer }>()

  /** What the inventory says of a file; the source may say otherwise. */
  list(path: string, content: Buffer): void {
    this.#listed.set(fileIdOf(RUNTIME_KEY, path), { path, content })
  }

  async heartbeat({ name, node, address, state }: { name: string; node: string; address: string; state: WorkerState }) {
    if (this.isDown) throw new Error('connect ECONNREFUSED')
    if (!this.workers.has(name)) this.#next()
    this.workers.set(name, { name, node, address, weight: 1, state: this.leaving.has(name) ? 'leaving' : state })
    return this.membership
  }

  leave(name: string): void {
    this.#next()
    this.leaving.add(name)
    const worker = this.workers.get(name)
    if (worker !== undefined) this.workers.set(name, { ...worker, state: 'leaving' })
  }

  stay(name: string): void {
    this.#next()
    this.leaving.delete(name)
  }

  get membership() {
    return { epoch: this.epoch, workers: [...this.workers.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), previous: this.previous }
  }

  async file(fileId: string) {
    if (this.isDown) throw new Error('connect ECONNREFUSED http://user:pass@master/?sig=1')
    this.lookups++
    const file = this.#listed.get(fileId)
    if (file === undefined) return undefined
    const { path, content } = file
    const source = { path: path.slice(1), size: content.length, etag: etagOf(content) }
    return { mount: 0, source, entry: { path, fileId, size: content.length, version: versionOf(source), mtimeMs: 0 } }
  }

  #next(): void {
    this.previous = this.membership.workers
    this.epoch++
  }
}

export interface Bed {
  master: FakeMaster
  source: FakeSource
  directory: string
  put(path: string, content: Buffer): BlockKey
  start(name: string, options?: Partial<WorkerOptions>): Promise<Running>
}

export interface Running {
  worker: Worker
  port: number
  request(target: string | BlockKey, options?: RequestOptions): Promise<Answer>
}

export interface RequestOptions {
  method?: string
  headers?: http.OutgoingHttpHeaders
  body?: Uint8Array
  /** Signed with the runtime's key. */
  isSigned?: boolean
  signal?: AbortSignal
}

export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  body: Buffer
  error: { code?: string; message?: string }
}

export function aBed(directory: string, onStart: (worker: Worker) => void): Bed {
  const master = new FakeMaster()
  const source = new FakeSource()
  return {
    master,
    source,
    directory,
    put(path, content) {
      source.files.set(path.slice(1), content)
      master.list(path, content)
      return fileKey(path, content)
    },
    async start(name, options = {}) {
      const worker = createWorker({
        name,
        node: 'n1',
        dataset: DATASET,
        tiers: [tierIn(`${directory}/${name}`, 'SSD', 64 * MIB)],
        blockBytes: MIB,
        replicas: 1,
        access: { runtimeKey: RUNTIME_KEY, signing },
        master,
        sourceOf: async () => source,
        clock: realClock,
        log: noLog,
        ...options,
        limits: { heartbeatMs: 10, handoverPauseMs: 5, closeMs: 200, ...options.limits },
      })
      onStart(worker)
      const { port } = await worker.listen({ host: '127.0.0.1', port: 0 })
      await until(() => worker.state().epoch > 0 || master.isDown)
      return { worker, port, request: (target, of) => ask(port, target, of) }
    },
  }
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 2))
}

function ask(port: number, target: string | BlockKey, of: RequestOptions = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body, isSigned = false, signal } = of
  const path = typeof target === 'string' ? target : blockTarget(target)
  const authorization = isSigned ? signing.sign({ method, target: path, body: method === 'PUT' ? 'streamed' : body }) : bearer()
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, method, path, headers: { authorization, ...headers }, agent: false, signal })
    request.on('error', reject)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const isError = (response.statusCode ?? 0) >= 400 && bytes.length > 0
        const error = isError ? (JSON.parse(bytes.toString()) as { error: Answer['error'] }).error : {}
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes, error })
      })
    })
    request.end(body)
  })
}
