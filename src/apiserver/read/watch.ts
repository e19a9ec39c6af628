/**
 * WATCH: the events since a revision, then new ones, in order, without gap or duplicate. Each event is encoded
 * once per served version and shared by every watcher. A watcher that falls behind its bound is closed; nothing is ever
 * buffered for it without limit, and it resumes from its last revision.
 */
import { type ByteText, bytesOf, utf8Of } from '../../base/byte-text.ts'
import { noteParsed } from '../../base/parsed-bytes.ts'
import type { ApiResponse, ByteSink } from '../../kube/http.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { StatusError, tooManyRequestsError } from '../../kube/status.ts'
import { CompactedError, type StoreEvent, type Version } from '../../store/index.ts'
import type { Served } from '../catalog.ts'
import type { Negotiated } from '../negotiation.ts'
import { convertTo, isServedAsStored, prefixOf, readVersion } from '../objects.ts'
import { type ListOptions, parseListOptions } from '../options.ts'
import { partial, table, warningHeaders } from '../respond.ts'
import type { Scope } from '../scope.ts'
import { collect } from './list.ts'
import { parseExactRevision, tooOldRevision, waitForRevision } from './revision.ts'
import { parseSelection, type Selection } from './selection.ts'
import { createWatchBuffer, type WatchBuffer } from './watch-buffer.ts'
import type { WatchRegistry } from './watch-registry.ts'

const BOOKMARK_EVERY_MS = 60_000
const MIN_TIMEOUT_SECONDS = 1800
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'

interface WatchPlan {
  options: ListOptions
  selection: Selection
  /** State to send first, as ADDED events. */
  initial: Version[]
  /** Events strictly after this follow. */
  after: number
  marksInitialEnd: boolean
}

export async function watch(scope: Scope, negotiated: Negotiated, registry: WatchRegistry): Promise<ApiResponse> {
  const options = parseListOptions(scope.info.query, true)
  const selection = parseSelection(scope, options)
  const plan = await planWatch(scope, options, selection)
  const headers: ApiResponse['headers'] = {
    'cache-control': 'no-cache, private',
    'content-type': 'application/json',
    ...(scope.warnings.length === 0 ? {} : { warning: warningHeaders(scope.warnings) }),
  }
  if (plan instanceof StatusError) {
    const line = encodeValue('ERROR', plan.status)
    return { status: 200, headers, body: (sink) => sendOnly(sink, line) }
  }
  if (!registry.admit())
    throw tooManyRequestsError(`there are ${registry.open} watches open, which is the limit; close some and try again`, 5)
  return { status: 200, headers, body: (sink) => start(scope, negotiated, { plan, sink, registry }) }
}

function sendOnly(sink: ByteSink, line: Uint8Array): () => void {
  sink.write(line)
  sink.end()
  return () => undefined
}

async function planWatch(scope: Scope, options: ListOptions, selection: Selection): Promise<WatchPlan | StatusError> {
  const revision = parseExactRevision(options.resourceVersion)
  const wantsState =
    options.sendInitialEvents === true || (options.sendInitialEvents === undefined && (revision === undefined || revision === 0))
  const marksInitialEnd = options.sendInitialEvents === true && options.allowWatchBookmarks
  if (!wantsState) {
    const after = revision === undefined || revision === 0 ? scope.server.objects.store.revision : revision
    const oldest = scope.server.objects.store.oldestRevision
    if (after < oldest) return tooOldRevision(after, oldest) as StatusError
    return { options, selection, initial: [], after, marksInitialEnd: false }
  }
  if (revision !== undefined && revision > 0) await waitForRevision(scope, revision)
  const state = await collect(scope, { ...options, limit: 0, resourceVersion: '', continueToken: '' }, selection)
  return { options, selection, initial: state.versions, after: Number(state.meta.resourceVersion), marksInitialEnd }
}

interface Start {
  plan: WatchPlan
  sink: ByteSink
  registry: WatchRegistry
}

function start(scope: Scope, negotiated: Negotiated, { plan, sink, registry }: Start): () => void {
  if (scope.request.signal?.aborted) {
    sink.end()
    return () => undefined
  }
  const { clock, limits, objects, random } = scope.server
  const timers: (() => void)[] = []
  let isStopped = false
  let stopStore: () => void = () => undefined
  const release = registry.opened(() => stop(true))
  const stop = (endSink: boolean): void => {
    if (isStopped) return
    isStopped = true
    stopStore()
    buffer.close()
    for (const cancel of timers) cancel()
    release()
    if (endSink) sink.end()
  }
  const bounds = { maxBytes: limits.watchBufferBytes, maxEvents: limits.watchBufferEvents, onOverflow: () => stop(true) }
  const buffer = createWatchBuffer(sink, bounds)
  const watcher: Watcher = { served: scope.served, selection: plan.selection, encode: eventEncoder(scope, negotiated) }
  const bookmarkAt = (revision: number, annotations?: Record<string, string>) => bookmark(scope, negotiated, { revision, annotations })

  const timeoutSeconds = plan.options.timeoutSeconds ?? MIN_TIMEOUT_SECONDS * (1 + random.next())
  timers.push(clock.after(timeoutSeconds * 1000, () => stop(true)))
  buffer.pull(stateLines(plan, watcher.encode, bookmarkAt), () => {
    const followed = followStore(scope, { plan, watcher, buffer, onClose: () => stop(true) })
    if (followed === undefined) return stop(true)
    stopStore = followed
    if (isStopped) stopStore()
    else if (plan.options.allowWatchBookmarks) timers.push(remind())
  })
  return () => stop(false)

  /** A bookmark: everything up to the store's newest revision was sent, is queued ahead of it, or does not concern this watcher. */
  function remind(): () => void {
    const slot = timers.length
    const next = (): (() => void) =>
      clock.after(BOOKMARK_EVERY_MS, () => {
        buffer.send(bookmarkAt(Math.max(plan.after, objects.store.revision)))
        if (!isStopped) timers[slot] = next()
      })
    return next()
  }
}

function* stateLines(
  plan: WatchPlan,
  encode: EncodeEvent,
  bookmarkAt: (revision: number, annotations: Record<string, string>) => Uint8Array,
): Generator<Uint8Array> {
  for (const version of plan.initial) yield encode('ADDED', version)
  if (plan.marksInitialEnd) yield bookmarkAt(plan.after, { [INITIAL_EVENTS_END]: 'true' })
}

interface Following {
  plan: WatchPlan
  watcher: Watcher
  buffer: WatchBuffer
  onClose(): void
}

/**
 * Sends the events since the plan's revision, then new ones. Past events arrive before the store's `watch` returns, and may
 * be very many: they are kept unencoded and sent as the sink accepts them. Undefined when the past has been compacted.
 */
function followStore(scope: Scope, { plan, watcher, buffer, onClose }: Following): (() => void) | undefined {
  let past: StoreEvent[] | undefined = []
  const onEvent = (event: StoreEvent): void => {
    if (past !== undefined) return void past.push(event)
    const line = lineFor(event, watcher)
    if (line !== undefined) buffer.send(line)
  }
  try {
    const stop = scope.server.objects.store.watch(prefixOf(scope.served, plan.selection.namespace), { after: plan.after, onEvent, onClose })
    const events = past
    past = undefined
    buffer.pull(pastLines(events, watcher), () => undefined)
    return stop
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error
    buffer.send(encodeValue('ERROR', (tooOldRevision(plan.after, error.oldest) as StatusError).status))
    return undefined
  }
}

function* pastLines(events: readonly StoreEvent[], watcher: Watcher): Generator<Uint8Array> {
  for (const event of events) {
    const line = lineFor(event, watcher)
    if (line !== undefined) yield line
  }
}

type EncodeEvent = (type: string, version: Version) => Uint8Array

interface Watcher {
  served: Served
  selection: Selection
  encode: EncodeEvent
}

/** What a store event means to a watcher with selectors: entering and leaving the selection are ADDED and DELETED. */
function lineFor(event: StoreEvent, { served, selection, encode }: Watcher): Uint8Array | undefined {
  if (selection.selectsAll && selection.name === undefined) {
    if (event.type === 'delete') return encode('DELETED', event.version)
    return encode(event.previous === undefined ? 'ADDED' : 'MODIFIED', event.version)
  }
  const was = event.previous !== undefined && selection.matches(readVersion(served, event.previous))
  const is = event.type === 'put' && selection.matches(readVersion(served, event.version))
  if (is) return encode(was ? 'MODIFIED' : 'ADDED', event.version)
  if (!was) return undefined
  if (event.type === 'delete') return encode('DELETED', event.version)
  // The object left the selection: its last matching state, at the revision at which it left.
  return encode('DELETED', rewound(event))
}

function rewound(event: StoreEvent): Version {
  const before = event.previous?.object() as KubeObject
  const object: KubeObject = { ...before, metadata: { ...before.metadata, resourceVersion: String(event.revision) } }
  const { key, revision } = event
  return {
    key,
    revision,
    createRevision: event.version.createRevision,
    text: utf8Of(JSON.stringify(object)),
    object: () => object,
    glance: () => object,
  }
}

/**
 * The lines of the newest event of each resource: its watchers are notified one after another and get the same bytes. Older
 * lines are not kept, or every object would be in memory a second time for as long as it lives.
 */
const newestLines = new WeakMap<Served, { version: Version; byType: Map<string, Uint8Array> }>()

function eventEncoder(scope: Scope, negotiated: Negotiated): EncodeEvent {
  const { served } = scope
  if (negotiated.shape === 'object') {
    return (type, version) => {
      let lines = newestLines.get(served)
      if (lines?.version !== version) {
        lines = { version, byType: new Map() }
        newestLines.set(served, lines)
      }
      const known = lines.byType.get(type)
      if (known !== undefined) return known
      const object = (): KubeObject => convertTo(served, readVersion(served, version), served.apiVersion)
      const line = encodeLine(type, isServedAsStored(served, version) ? version.text : utf8Of(JSON.stringify(object())))
      noteParsed(line, () => ({ type, object: object() }))
      lines.byType.set(type, line)
      return line
    }
  }
  let hasHeaders = true
  return (type, version) => {
    const object = convertTo(served, readVersion(served, version), served.apiVersion)
    if (negotiated.shape !== 'Table') return encodeValue(type, partial(served, object, negotiated.metaVersion))
    const shaped = table(scope, negotiated, { objects: [object], meta: { resourceVersion: object.metadata.resourceVersion }, hasHeaders })
    hasHeaders = false
    return encodeValue(type, shaped)
  }
}

function bookmark(
  scope: Scope,
  negotiated: Negotiated,
  { revision, annotations }: { revision: number; annotations?: Record<string, string> },
): Uint8Array {
  const { served } = scope
  const metadata = { ...(annotations === undefined ? {} : { annotations }), resourceVersion: String(revision) }
  const isWhole = negotiated.shape === 'object'
  const typed = isWhole
    ? { kind: served.definition.kind, apiVersion: served.apiVersion }
    : { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${negotiated.metaVersion}` }
  if (negotiated.shape === 'Table') {
    const row = {
      kind: 'Table',
      apiVersion: `meta.k8s.io/${negotiated.metaVersion}`,
      metadata: { resourceVersion: String(revision) },
      columnDefinitions: null,
    }
    return encodeValue('BOOKMARK', { ...row, rows: annotations === undefined ? [] : [{ cells: [], object: { ...typed, metadata } }] })
  }
  const empty = isWhole ? (served.definition.emptyObject?.(served.apiVersion) ?? {}) : {}
  const zero = Object.fromEntries(isWhole ? (served.definition.rules.annotationsOfFields ?? []).map((name) => [name, '0']) : [])
  const whole = Object.keys(zero).length === 0 ? metadata : { ...metadata, annotations: { ...zero, ...annotations } }
  const object = { ...empty, ...typed, metadata: whole }
  const line = encodeValue('BOOKMARK', object)
  noteParsed(line, () => ({ type: 'BOOKMARK', object }))
  return line
}

const encodeValue = (type: string, object: unknown): Uint8Array => encodeLine(type, utf8Of(JSON.stringify(object)))

const encodeLine = (type: string, object: ByteText): Uint8Array => bytesOf(`{"type":"${type}","object":${object}}\n` as ByteText)
