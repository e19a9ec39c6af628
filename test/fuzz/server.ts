/** The server under fuzz: a whole cluster in this thread, over a store in memory, and the real listener in front of it. */

import { listen } from '../../src/apiserver/listener/index.ts'
import { ensurePki, type KeyDirectory } from '../../src/apiserver/pki/index.ts'
import type { Clock } from '../../src/base/clock.ts'
import { seededRandom } from '../../src/base/random.ts'
import { clusterOf } from '../../src/composition.ts'
import type { ApiResponse } from '../../src/kube/http.ts'
import { type ClusterStore, createMemoryStore } from '../../src/store/index.ts'
import { NAMESPACES } from './corpus.ts'
import { bodyOf, type FuzzRequest, withBody } from './request.ts'
import { overTls } from './tls.ts'

export interface Answer {
  status: number
  contentType: string
  body: Buffer
}

export interface FuzzServer {
  send(request: FuzzRequest): Promise<Answer>
  /** Errors that `handle` did not expect, since the last call. */
  takeInternalErrors(): unknown[]
  /** Back to its state after the start. */
  reset(): Promise<void>
  stop(): Promise<void>
}

const MASTERS = { name: 'admin', groups: ['system:masters', 'system:authenticated'] }
const NOBODY = { name: 'nobody', groups: ['system:authenticated'] }
const STREAM_MS = 3

const clock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, 2 ** 31 - 1))
    timer.unref()
    return () => clearTimeout(timer)
  },
}

export async function startFuzzServer(options: { tls: boolean }): Promise<FuzzServer> {
  const random = seededRandom(1)
  const store = createMemoryStore({ clock, history: { minEvents: 100, minAgeMs: 0, maxEvents: 2000, maxBytes: 32 * 1024 * 1024 } })
  const pki = await ensurePki({ directory: memoryDirectory(), clock, random })
  let errors: unknown[] = []
  const cluster = clusterOf({
    role: 'member',
    bare: true,
    store: store.cluster('hub'),
    clock,
    random,
    adminToken: pki.adminToken,
    serviceAccountKey: pki.serviceAccountKey,
    clientAuthority: pki.authority,
    port: 0,
    limits: { futureRevisionWaitSeconds: 0.01, userRate: 1e9, userBurst: 1e9 },
    onInternalError: (error) => errors.push(error),
  })
  await cluster.ready
  const tls = { certificate: pki.serving.certificate, key: pki.serving.key, clientAuthority: pki.authority }
  const listener = options.tls
    ? await listen({ handle: cluster.handle, tls, clock, port: 0, onError: (error) => errors.push(error) })
    : undefined
  const objects = store.cluster('hub')
  const initial = new Set(objects.buckets().flatMap((bucket) => objects.range(`${bucket}/`).versions.map((version) => version.key)))

  const send = async (request: FuzzRequest): Promise<Answer> => {
    if (request.overTls === true && listener !== undefined)
      return overTls(
        { host: listener.host, port: listener.port, ca: pki.authority, token: request.user === undefined ? pki.adminToken : undefined },
        request,
      )
    const as = request.user === undefined ? MASTERS : request.user === 'nobody' ? NOBODY : undefined
    // Credentials in the request must be checked, not skipped.
    const trusted = Object.hasOwn(request.headers, 'authorization') ? undefined : as
    const abort = new AbortController()
    const response = await cluster.handle({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: bodyOf(request),
      as: trusted,
      signal: abort.signal,
    })
    const answer = { status: response.status, contentType: String(response.headers['content-type'] ?? ''), body: await read(response) }
    abort.abort()
    return answer
  }

  const reset = (): Promise<void> => emptied(objects, initial, send)
  await reset()
  return {
    send,
    reset,
    takeInternalErrors() {
      const taken = errors
      errors = []
      return taken
    },
    async stop() {
      cluster.stop()
      await listener?.stop(100)
      await store.close()
    },
  }
}

/** Removes what was not there at the start, forgets the history, makes the namespaces anew. */
async function emptied(objects: ClusterStore, initial: ReadonlySet<string>, send: FuzzServer['send']): Promise<void> {
  for (const bucket of objects.buckets())
    for (const { key, text } of objects.range(`${bucket}/`).versions)
      if (!initial.has(key)) await objects.commit({ key, expect: 'any', type: 'delete', encode: () => ({ text }) })
  objects.compact(objects.revision)
  const headers = { 'content-type': 'application/json' }
  for (const name of NAMESPACES)
    await send(withBody({ family: 'setup', method: 'POST', url: '/api/v1/namespaces', headers }, JSON.stringify({ metadata: { name } })))
}

/** A stream is read for a moment and then cancelled, as an impatient client does. */
async function read(response: ApiResponse): Promise<Buffer> {
  const { body } = response
  if (body === undefined) return Buffer.alloc(0)
  if (typeof body !== 'function') return Buffer.from(body)
  const chunks: Uint8Array[] = []
  const ended = new Promise<void>((resolve) => {
    const stop = body({
      write(chunk) {
        chunks.push(chunk)
        return true
      },
      onDrain: () => undefined,
      end: resolve,
    })
    setTimeout(() => {
      stop()
      resolve()
    }, STREAM_MS)
  })
  await ended
  return Buffer.concat(chunks)
}

function memoryDirectory(): KeyDirectory {
  const files = new Map<string, string>()
  return {
    path: 'memory',
    read: async (name) => files.get(name),
    write: async (name, text) => void files.set(name, text),
  }
}
