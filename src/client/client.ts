/**
 * The one client. Reads are retried; a write is sent again only when it cannot have happened (the server said so with
 * 429 or 503) or when it carries a precondition that makes a repetition harmless.
 */
import type { Clock } from '../base/clock.ts'
import { sleep } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { KubeObject } from '../kube/meta.ts'
import { ApiError, statusOf } from './errors.ts'
import { lines } from './lines.ts'
import { collectionPath, type ObjectName, objectPath, type Resource, withQuery } from './resource.ts'
import { readAll, type Transport, TransportError, type TransportRequest, type TransportResponse } from './transport.ts'

export interface ListOptions {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  resourceVersion?: string
  /** Objects per request (default 500); the list as a whole is one snapshot. */
  pageSize?: number
  signal?: AbortSignal
}

export interface ListResult<T extends KubeObject = KubeObject> {
  items: T[]
  resourceVersion: string
}

export interface WatchOptions {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  resourceVersion: string
  timeoutSeconds?: number
  signal?: AbortSignal
}

export type WatchEvent = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: KubeObject }

export interface WriteOptions {
  dryRun?: boolean
  fieldManager?: string
  subresource?: string
  signal?: AbortSignal
}

export type PatchType = 'json' | 'merge' | 'strategic'

export interface DeleteOptions {
  gracePeriodSeconds?: number
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'
  preconditions?: { uid?: string; resourceVersion?: string }
  dryRun?: boolean
  signal?: AbortSignal
}

export interface LogOptions {
  container?: string
  follow?: boolean
  previous?: boolean
  tailLines?: number
  sinceSeconds?: number
  signal?: AbortSignal
}

export interface Client {
  get<T extends KubeObject = KubeObject>(resource: Resource, of: ObjectName, options?: { subresource?: string; signal?: AbortSignal }): Promise<T>
  list<T extends KubeObject = KubeObject>(resource: Resource, options?: ListOptions): Promise<ListResult<T>>
  /** Ends when the server ends it or the signal aborts; throws ApiError on an ERROR event (410 among them). */
  watch(resource: Resource, options: WatchOptions): AsyncGenerator<WatchEvent>
  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>
  update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>
  patch<T extends KubeObject = KubeObject>(resource: Resource, of: ObjectName, patch: { type: PatchType; body: unknown } & WriteOptions): Promise<T>
  /** Server-side apply of an owned subset; `fieldManager` is required. */
  apply<T extends KubeObject = KubeObject>(resource: Resource, object: KubeObject, options: WriteOptions & { fieldManager: string; force?: boolean }): Promise<T>
  delete(resource: Resource, of: ObjectName, options?: DeleteOptions): Promise<KubeObject>
  deleteCollection(resource: Resource, options: DeleteOptions & Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>): Promise<void>
  /** `pods/log` as a stream of bytes. */
  log(pod: { namespace: string; name: string }, options?: LogOptions): Promise<AsyncIterable<Uint8Array>>
  /** Any path, for what has no kind: /version, /readyz, discovery. */
  raw(request: Omit<TransportRequest, 'headers'> & { headers?: Record<string, string> }): Promise<TransportResponse>
  close(): Promise<void>
}

export interface ClientOptions {
  transport: Transport
  clock: Clock
  random: Random
  userAgent: string
  /** Tries of a request that may be repeated, the first included (default 5). */
  tries?: number
}

const PAGE_SIZE = 500
const MAX_EVENT_BYTES = 16 * 1024 * 1024
const PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }
const PATCH_TYPES: Record<PatchType, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

export function createClient(options: ClientOptions): Client {
  const send = sender(options)
  const json = async <T>(request: Omit<TransportRequest, 'headers'> & { headers?: Record<string, string>; isSafe: boolean }): Promise<T> => {
    const response = await send(request)
    return JSON.parse((await readAll(response.body)).toString('utf8')) as T
  }
  const write = (method: string, path: string, body: unknown, more: { options: WriteOptions; type?: string; isSafe: boolean; force?: boolean }) =>
    json<KubeObject>({
      method,
      path: withQuery(path, { dryRun: more.options.dryRun ? 'All' : undefined, fieldManager: more.options.fieldManager, force: more.force }),
      headers: { 'content-type': more.type ?? 'application/json' },
      body: JSON.stringify(body),
      signal: more.options.signal,
      isSafe: more.isSafe,
    })

  return {
    get: (resource, of, opts = {}) => json({ method: 'GET', path: objectPath(resource, of, opts.subresource), signal: opts.signal, isSafe: true }),
    list: (resource, opts = {}) => listAll(json, resource, opts),
    watch: (resource, opts) => watchEvents(send, resource, opts),
    create: (resource, object, opts = {}) =>
      write('POST', objectOrCollection(resource, object, opts.subresource), object, { options: opts, isSafe: false }) as Promise<typeof object>,
    update: (resource, object, opts = {}) =>
      write('PUT', objectPath(resource, nameOf(object), opts.subresource), object, {
        options: opts,
        isSafe: (object.metadata.resourceVersion ?? '') !== '',
      }) as Promise<typeof object>,
    patch: (resource, of, patch) =>
      write('PATCH', objectPath(resource, of, patch.subresource), patch.body, {
        options: patch,
        type: PATCH_TYPES[patch.type],
        isSafe: carriesRevision(patch.body),
      }) as Promise<never>,
    // Applying the same configuration twice is the same as once.
    apply: (resource, object, opts) =>
      write('PATCH', objectPath(resource, nameOf(object), opts.subresource), object, {
        options: opts,
        type: 'application/apply-patch+yaml',
        isSafe: true,
        force: opts.force,
      }) as Promise<never>,
    delete: (resource, of, opts = {}) =>
      json({
        method: 'DELETE',
        path: objectPath(resource, of),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(deleteBody(opts)),
        signal: opts.signal,
        isSafe: opts.preconditions?.uid !== undefined,
      }),
    async deleteCollection(resource, opts) {
      const path = withQuery(collectionPath(resource, opts.namespace), { labelSelector: opts.labelSelector, fieldSelector: opts.fieldSelector })
      await json({ method: 'DELETE', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(deleteBody(opts)), signal: opts.signal, isSafe: false })
    },
    async log(pod, opts = {}) {
      const { signal, ...query } = opts
      const path = withQuery(objectPath(PODS, pod, 'log'), query)
      return (await send({ method: 'GET', path, signal, isStream: true, isSafe: true, headers: { accept: '*/*' } })).body
    },
    raw: (request) => options.transport.request({ ...request, headers: { accept: 'application/json', 'user-agent': options.userAgent, ...request.headers } }),
    close: () => options.transport.close(),
  }
}

const nameOf = (object: KubeObject): ObjectName => ({ namespace: object.metadata.namespace, name: object.metadata.name ?? '' })

function objectOrCollection(resource: Resource, object: KubeObject, subresource: string | undefined): string {
  return subresource === undefined ? collectionPath(resource, object.metadata.namespace) : objectPath(resource, nameOf(object), subresource)
}

function carriesRevision(body: unknown): boolean {
  const revision = (body as { metadata?: { resourceVersion?: unknown } } | null)?.metadata?.resourceVersion
  return typeof revision === 'string' && revision !== ''
}

function deleteBody(options: DeleteOptions): unknown {
  const { gracePeriodSeconds, propagationPolicy, preconditions } = options
  return { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds, propagationPolicy, preconditions, dryRun: options.dryRun ? ['All'] : undefined }
}

type Send = (request: Omit<TransportRequest, 'headers'> & { headers?: Record<string, string>; isSafe: boolean }) => Promise<TransportResponse>
type SendJson = <T>(request: Omit<TransportRequest, 'headers'> & { headers?: Record<string, string>; isSafe: boolean }) => Promise<T>

const BASE_DELAY_MS = 100
const MAX_DELAY_MS = 5000

function sender(options: ClientOptions): Send {
  const tries = options.tries ?? 5
  return async ({ isSafe, ...request }) => {
    for (let attempt = 1; ; attempt++) {
      let failure: unknown
      try {
        const response = await options.transport.request({
          ...request,
          headers: { accept: 'application/json', 'user-agent': options.userAgent, ...request.headers },
        })
        if (response.status < 400) return response
        failure = await errorOf(response)
      } catch (error) {
        failure = error
      }
      const delayMs = attempt >= tries || request.signal?.aborted ? undefined : retryDelay(failure, isSafe, attempt, options.random)
      if (delayMs === undefined) throw failure
      await sleep(options.clock, delayMs, request.signal)
    }
  }
}

/** How long to wait before the same request again; undefined when it must not be repeated. */
function retryDelay(failure: unknown, isSafe: boolean, attempt: number, random: Random): number | undefined {
  const backoff = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1)) * (0.5 + random.next() / 2)
  if (failure instanceof TransportError) return isSafe ? backoff : undefined
  if (!(failure instanceof ApiError)) return undefined
  // The server refused before doing anything: repeating is safe whatever the verb.
  if (failure.code === 429 || failure.code === 503) return Math.max(backoff, (failure.retryAfterSeconds ?? 0) * 1000)
  return isSafe && failure.code >= 500 && failure.code !== 501 && failure.retryAfterSeconds !== undefined ? failure.retryAfterSeconds * 1000 : undefined
}

async function errorOf(response: TransportResponse): Promise<ApiError> {
  const text = (await readAll(response.body)).toString('utf8')
  const header = response.headers['retry-after']
  const retryAfter = typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined
  return new ApiError(response.status, statusOf(response.status, text), retryAfter)
}

interface ListPage {
  metadata: { resourceVersion: string; continue?: string }
  items: KubeObject[] | null
  apiVersion: string
}

async function listAll<T extends KubeObject>(json: SendJson, resource: Resource, options: ListOptions): Promise<ListResult<T>> {
  const items: T[] = []
  let continueToken: string | undefined
  for (;;) {
    const path = withQuery(collectionPath(resource, options.namespace), {
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.pageSize ?? PAGE_SIZE,
      continue: continueToken,
      resourceVersion: continueToken === undefined ? options.resourceVersion : undefined,
    })
    const page: ListPage = await json<ListPage>({ method: 'GET', path, signal: options.signal, isSafe: true })
    // Items of built-in lists come without kind and apiVersion; every object we hand out has both.
    for (const item of page.items ?? []) items.push({ ...item, apiVersion: item.apiVersion ?? page.apiVersion, kind: item.kind ?? resource.kind } as T)
    continueToken = page.metadata.continue
    if (continueToken === undefined || continueToken === '') return { items, resourceVersion: page.metadata.resourceVersion }
  }
}

async function* watchEvents(send: Send, resource: Resource, options: WatchOptions): AsyncGenerator<WatchEvent> {
  const path = withQuery(collectionPath(resource, options.namespace), {
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion: options.resourceVersion,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    timeoutSeconds: options.timeoutSeconds,
  })
  const response = await send({ method: 'GET', path, signal: options.signal, isStream: true, isSafe: true })
  try {
    for await (const line of lines(response.body, MAX_EVENT_BYTES)) {
      if (line.length === 0) continue
      const event = JSON.parse(line.toString('utf8')) as { type: string; object: KubeObject }
      if (event.type === 'ERROR') {
        const status = statusOf(500, JSON.stringify(event.object))
        throw new ApiError(status.code ?? 500, status)
      }
      yield event as WatchEvent
    }
  } finally {
    response.cancel()
  }
}
