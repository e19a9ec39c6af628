/**
 * The one client. Reads are retried; a write is sent again only when the server said that it did nothing, or when it carries
 * a precondition (resourceVersion or uid) that makes a repetition harmless. A write without one that got no answer is
 * reported to the caller, because only the caller can look and decide again.
 */

import { parsedOf } from '../base/parsed-bytes.ts'
import { PODS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { type ObjectName, type ObjectRef, refOf } from '../kube/object-reference.ts'
import { collectionPath, objectPath, type Resource, withQuery } from '../kube/resource.ts'
import { ApiError, isExpired, statusOf } from './errors.ts'
import { type ExecOptions, type ExecSession, execOver, execPath } from './exec.ts'
import { lines } from './lines.ts'
import { createSender, type Sender, type SendOptions } from './send.ts'
import { TransportError, type TransportRequest, type TransportResponse } from './transport.ts'

export interface ListOptions {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  resourceVersion?: string
  /** Objects per request (default 500, 0 = all at once); the list as a whole is one snapshot. */
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
  /** Called when the server has accepted the watch. */
  onOpen?(): void
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
  get<T extends KubeObject = KubeObject>(
    resource: Resource,
    of: ObjectName,
    options?: { subresource?: string; signal?: AbortSignal },
  ): Promise<T>
  list<T extends KubeObject = KubeObject>(resource: Resource, options?: ListOptions): Promise<ListResult<T>>
  /** Ends when the server ends it or the signal aborts; throws ApiError on an ERROR event (including 410). */
  watch(resource: Resource, options: WatchOptions): AsyncGenerator<WatchEvent>
  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>
  update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>
  patch<T extends KubeObject = KubeObject>(
    resource: Resource,
    of: ObjectName,
    patch: { type: PatchType; body: unknown } & WriteOptions,
  ): Promise<T>
  /** Server-side apply of an owned subset; `fieldManager` is required. */
  apply<T extends KubeObject = KubeObject>(
    resource: Resource,
    object: KubeObject,
    options: WriteOptions & { fieldManager: string; force?: boolean },
  ): Promise<T>
  delete(resource: Resource, of: ObjectName, options?: DeleteOptions): Promise<KubeObject>
  deleteCollection(
    resource: Resource,
    options: DeleteOptions & Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>,
  ): Promise<void>
  /** `pods/log` as a stream of bytes. */
  log(pod: ObjectRef, options?: LogOptions): Promise<AsyncIterable<Uint8Array>>
  /** `pods/exec`: needs a transport with `connect`. */
  exec(pod: ObjectRef, options: ExecOptions): Promise<ExecSession>
  /** Any path, for endpoints without a kind: /version, /readyz, discovery. */
  raw(request: Omit<TransportRequest, 'headers'> & Partial<Pick<TransportRequest, 'headers'>>): Promise<TransportResponse>
  close(): Promise<void>
}

export type ClientOptions = SendOptions

const PAGE_SIZE = 500
const MAX_EVENT_BYTES = 16 * 1024 * 1024
const APPLY_TYPE = 'application/apply-patch+yaml'
const PATCH_TYPES: Record<PatchType, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

export function createClient(options: ClientOptions): Client {
  const sender = createSender(options)
  const { json } = sender
  const write = (method: string, path: string, body: unknown, more: Write) =>
    json<never>({
      method,
      path: withQuery(path, {
        dryRun: more.options.dryRun ? 'All' : undefined,
        fieldManager: more.options.fieldManager,
        force: more.force,
      }),
      headers: { 'content-type': more.type ?? 'application/json' },
      body: JSON.stringify(body),
      signal: more.options.signal,
      isRepeatable: hasPrecondition(body) || more.options.dryRun === true,
    })

  return {
    get: (resource, of, opts = {}) =>
      json({ method: 'GET', path: objectPath(resource, of, opts.subresource), signal: opts.signal, isRepeatable: true }),
    list: (resource, opts = {}) => listAll(sender, resource, opts),
    watch: (resource, opts) => watchEvents(sender, resource, opts),
    create: (resource, object, opts = {}) => write('POST', createPath(resource, object, opts.subresource), object, { options: opts }),
    update: (resource, object, opts = {}) => write('PUT', objectPath(resource, refOf(object), opts.subresource), object, { options: opts }),
    patch: (resource, of, patch) =>
      write('PATCH', objectPath(resource, of, patch.subresource), patch.body, { options: patch, type: PATCH_TYPES[patch.type] }),
    apply: (resource, object, opts) =>
      write('PATCH', objectPath(resource, refOf(object), opts.subresource), object, {
        options: opts,
        type: APPLY_TYPE,
        force: opts.force,
      }),
    delete: (resource, of, opts = {}) => json(deletion(objectPath(resource, of), opts)),
    async deleteCollection(resource, opts) {
      const path = withQuery(collectionPath(resource, opts.namespace), {
        labelSelector: opts.labelSelector,
        fieldSelector: opts.fieldSelector,
      })
      await json(deletion(path, opts))
    },
    async log(pod, opts = {}) {
      const { signal, ...query } = opts
      const path = withQuery(objectPath(PODS, pod, 'log'), query)
      return (await sender.open({ method: 'GET', path, signal, isStream: true, isRepeatable: true, headers: { accept: '*/*' } })).body
    },
    async exec(pod, opts) {
      const { connect } = options.transport
      if (connect === undefined) throw new TransportError('this transport cannot reach into pods')
      return execOver(connect, { path: execPath(pod, opts), headers: { 'user-agent': options.userAgent }, signal: opts.signal })
    },
    raw: (request) =>
      options.transport.request({
        ...request,
        headers: { accept: 'application/json', 'user-agent': options.userAgent, ...request.headers },
      }),
    close: () => options.transport.close(),
  }
}

interface Write {
  options: WriteOptions
  type?: string
  force?: boolean
}

function createPath(resource: Resource, object: KubeObject, subresource: string | undefined): string {
  return subresource === undefined ? collectionPath(resource, object.metadata.namespace) : objectPath(resource, refOf(object), subresource)
}

/** Whether the body contains the revision of the object it is meant for: sending it a second time then changes nothing. */
function hasPrecondition(body: unknown): boolean {
  if (Array.isArray(body))
    return body.some((step: { op?: unknown; path?: unknown }) => step?.op === 'test' && step.path === '/metadata/resourceVersion')
  const metadata = (body as { metadata?: { resourceVersion?: unknown } } | null)?.metadata
  return typeof metadata?.resourceVersion === 'string' && metadata.resourceVersion !== ''
}

const deletion = (path: string, options: DeleteOptions): Parameters<Sender['json']>[0] => ({
  method: 'DELETE',
  path,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(deleteBody(options)),
  signal: options.signal,
  isRepeatable: options.preconditions?.uid !== undefined || options.dryRun === true,
})

function deleteBody(options: DeleteOptions): unknown {
  const { gracePeriodSeconds, propagationPolicy, preconditions } = options
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    gracePeriodSeconds,
    propagationPolicy,
    preconditions,
    dryRun: options.dryRun ? ['All'] : undefined,
  }
}

interface ListPage {
  metadata: { resourceVersion: string; continue?: string }
  items: KubeObject[] | null
  apiVersion: string
}

async function listAll<T extends KubeObject>(sender: Sender, resource: Resource, options: ListOptions): Promise<ListResult<T>> {
  try {
    return await listPages(sender, resource, { ...options, pageSize: options.pageSize ?? PAGE_SIZE })
  } catch (error) {
    // The first page's revision expired while the others were being read: a single request then gets the whole list.
    if (isExpired(error)) return listPages(sender, resource, { ...options, pageSize: 0 })
    throw error
  }
}

async function listPages<T extends KubeObject>(sender: Sender, resource: Resource, options: ListOptions): Promise<ListResult<T>> {
  const items: T[] = []
  let continueToken: string | undefined
  for (;;) {
    const path = withQuery(collectionPath(resource, options.namespace), {
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.pageSize === 0 ? undefined : options.pageSize,
      continue: continueToken,
      resourceVersion: continueToken === undefined ? options.resourceVersion : undefined,
    })
    const page: ListPage = await sender.json<ListPage>({ method: 'GET', path, signal: options.signal, isRepeatable: true })
    // Items of built-in lists come without kind and apiVersion; every object we hand out has both.
    for (const item of page.items ?? [])
      items.push({ ...item, apiVersion: item.apiVersion ?? page.apiVersion, kind: item.kind ?? resource.kind } as T)
    continueToken = page.metadata.continue
    if (continueToken === undefined || continueToken === '') return { items, resourceVersion: page.metadata.resourceVersion }
  }
}

async function* watchEvents(sender: Sender, resource: Resource, options: WatchOptions): AsyncGenerator<WatchEvent> {
  const path = withQuery(collectionPath(resource, options.namespace), {
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion: options.resourceVersion,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    timeoutSeconds: options.timeoutSeconds,
  })
  const response = await sender.open({ method: 'GET', path, signal: options.signal, isStream: true, isRepeatable: true })
  options.onOpen?.()
  try {
    for await (const line of lines(response.body, MAX_EVENT_BYTES)) {
      if (line.length === 0) continue
      const event = (parsedOf(line) ?? JSON.parse(line.toString('utf8'))) as { type: string; object: KubeObject }
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
