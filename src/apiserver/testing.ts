/**
 * A whole API server for tests: built-in kinds with their rules and admission over a store in memory and a clock that
 * advances only on request. Requests go through `handle`, as with every transport; nothing is mocked.
 */
import { generateKeyPairSync } from 'node:crypto'
import { seededRandom } from '../base/random.ts'
import type { Admission } from '../kinds/admission.ts'
import { crdRules } from '../kinds/custom/crd-rules.ts'
import type { KindDefinition } from '../kinds/kind.ts'
import { builtinAdmission } from '../kinds/kubernetes/admission/index.ts'
import { printerFor } from '../kinds/kubernetes/printers/index.ts'
import { builtinKinds } from '../kinds/kubernetes/registry.ts'
import { rulesFor } from '../kinds/kubernetes/rules/index.ts'
import type { ApiRequest, ApiResponse, ByteSink } from '../kube/http.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Status } from '../kube/status.ts'
import { type ClusterStore, createMemoryStore, type MemoryStore } from '../store/index.ts'
import { manualClock } from '../store/suite-harness.ts'
import { type Cluster, type ClusterOptions, createCluster } from './cluster.ts'

export interface TestServerOptions extends Pick<ClusterOptions, 'limits' | 'httpPaths' | 'nodes' | 'subresources'> {
  /** The existing contents of the store: a restart on the same data. */
  store?: MemoryStore
  admission?: readonly Admission[]
  /** Kinds besides the built-in ones. */
  kinds?: readonly KindDefinition[]
  seed?: number
}

export interface Answer {
  status: number
  headers: ApiResponse['headers']
  text: string
  /** Parsed, where it is JSON. */
  body: Answered
}

/** What tests look at in answers of every kind; each test knows which kind it requested. */
export type Answered = KubeObject & Partial<Status> & { items: KubeObject[] }

export interface SendOptions {
  headers?: Record<string, string>
  /** Default: a cluster administrator. */
  as?: { name: string; groups: string[] }
  signal?: AbortSignal
}

export interface TestServer {
  cluster: Cluster
  memory: MemoryStore
  store: ClusterStore
  clock: ReturnType<typeof manualClock>
  /** Failures that the server did not expect. Tests end with none. */
  internalErrors: unknown[]
  send(method: string, url: string, body?: unknown, options?: SendOptions): Promise<Answer>
  handle(request: Partial<ApiRequest> & Pick<ApiRequest, 'method' | 'url'>): Promise<ApiResponse>
  watch(url: string, options?: SendOptions): Promise<WatchReader>
  stop(): void
}

export interface WatchEvent {
  type: string
  object: Answered
}

export interface WatchReader {
  /** Events received since the last call. */
  take(): WatchEvent[]
  readonly isEnded: boolean
  /** The receiver accepts no more: the next write is the last one accepted. */
  pause(): void
  resume(): void
  /** The client disconnects. */
  stop(): void
}

const ADMIN = { name: 'admin', groups: ['system:masters', 'system:authenticated'] }
const SERVICE_ACCOUNT_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

export const TEST_KINDS: readonly KindDefinition[] = builtinKinds({
  rulesFor: (group, kind) => (kind === 'CustomResourceDefinition' ? crdRules : rulesFor(group, kind)),
  printerFor,
})

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const clock = manualClock(Date.UTC(2026, 0, 1))
  const memory = options.store ?? createMemoryStore({ clock })
  const store = memory.cluster('hub')
  const internalErrors: unknown[] = []
  const cluster = createCluster({
    store,
    clock,
    random: seededRandom(options.seed ?? 1),
    kinds: [...TEST_KINDS, ...(options.kinds ?? [])],
    admission: () => [...builtinAdmission({ serviceAccount: false, storageProtection: true }), ...(options.admission ?? [])],
    access: { staticTokens: [], serviceAccountKey: SERVICE_ACCOUNT_KEY },
    port: 6443,
    clientAuthority: '',
    limits: options.limits,
    httpPaths: options.httpPaths,
    subresources: options.subresources,
    nodes: options.nodes,
    onInternalError: (error) => internalErrors.push(error),
  })
  await cluster.ready
  const handle: TestServer['handle'] = (request) => cluster.handle({ headers: {}, as: ADMIN, ...request })
  const ask = (method: string, url: string, body: unknown, { headers, as, signal }: SendOptions): Promise<ApiResponse> => {
    const bytes =
      body === undefined || body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    return cluster.handle({ method, url, headers: { ...(headers ?? {}) }, body: bytes as Uint8Array | undefined, as: as ?? ADMIN, signal })
  }
  return {
    cluster,
    memory,
    store,
    clock,
    internalErrors,
    handle,
    async send(method, url, body, how = {}) {
      const response = await ask(method, url, body, how)
      if (typeof response.body === 'function') throw new Error(`${method} ${url} answers with a stream`)
      const text = Buffer.from(response.body ?? []).toString('utf8')
      const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json')
      return { status: response.status, headers: response.headers, text, body: (isJson && text !== '' ? JSON.parse(text) : {}) as Answered }
    },
    async watch(url, how = {}) {
      const response = await ask('GET', url, undefined, how)
      if (typeof response.body !== 'function')
        throw new Error(`no stream but ${response.status}: ${Buffer.from(response.body ?? []).toString()}`)
      return readWatch(response.body)
    },
    stop: () => cluster.stop(),
  }
}

function readWatch(start: (sink: ByteSink) => () => void): WatchReader {
  let chunks: Uint8Array[] = []
  let isPaused = false
  let isEnded = false
  let onDrain: (() => void) | undefined
  const stop = start({
    write(chunk) {
      chunks.push(chunk)
      return !isPaused
    },
    onDrain(callback) {
      onDrain = callback
    },
    end() {
      isEnded = true
    },
  })
  return {
    take() {
      const text = Buffer.concat(chunks).toString('utf8')
      chunks = []
      const lines = text.split('\n')
      if (lines.pop() !== '') throw new Error(`the last line is not whole: ${text}`)
      return lines.map((line) => JSON.parse(line) as WatchEvent)
    },
    get isEnded() {
      return isEnded
    },
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
      const drained = onDrain
      onDrain = undefined
      drained?.()
    },
    stop,
  }
}

/** Runs everything that is ready, and what follows from it. */
export async function settle(turns = 20): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

export const configMap = (name: string, data: Record<string, string> = {}, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
})

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
