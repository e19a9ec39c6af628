/**
 * WATCH: what happened since a revision, then what happens, in order, without gap or duplicate. Each event is encoded
 * once per served version and shared by every watcher. A watcher that falls behind its bound is closed; nothing is ever
 * buffered for it without limit, and it resumes from its last revision.
 */
import type { KubeObject } from '../../kube/meta.ts'
import { StatusError, tooManyRequestsError } from '../../kube/status.ts'
import { CompactedError, type StoreEvent, type Version } from '../../store/index.ts'
import type { ApiResponse, ByteSink } from '../http.ts'
import type { Negotiated } from '../negotiation.ts'
import { convertTo, prefixOf, readVersion } from '../objects.ts'
import { type ListOptions, parseListOptions } from '../options.ts'
import { partial, table } from '../respond.ts'
import type { Scope } from '../scope.ts'
import { collect } from './list.ts'
import { parseExactRevision, tooOldRevision, waitForRevision } from './revision.ts'
import { parseSelection, type Selection } from './selection.ts'
import { createWatchBuffer } from './watch-buffer.ts'
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
  }
  if (plan instanceof StatusError) {
    const line = encodeLine('ERROR', JSON.stringify(plan.status))
    return { status: 200, headers, body: (sink) => (sink.write(line), sink.end(), () => undefined) }
  }
  if (!registry.admit())
    throw tooManyRequestsError(`there are ${registry.open} watches open, which is the limit; close some and try again`, 5)
  return { status: 200, headers, body: (sink) => start(scope, negotiated, { plan, sink, registry }) }
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
  const { clock, limits, objects } = scope.server
  const timers: (() => void)[] = []
  let sent = plan.after
  let stopped = false
  let stopStore: () => void = () => undefined
  const release = registry.opened(() => stop(true))
  const stop = (endSink: boolean): void => {
    if (stopped) return
    stopped = true
    stopStore()
    for (const cancel of timers) cancel()
    release()
    if (endSink) sink.end()
  }
  const buffer = createWatchBuffer(sink, {
    maxBytes: limits.watchBufferBytes,
    maxEvents: limits.watchBufferEvents,
    onOverflow: () => stop(true),
  })
  const encode = eventEncoder(scope, negotiated)

  for (const version of plan.initial) buffer.send(encode('ADDED', version))
  if (plan.marksInitialEnd) buffer.send(bookmark(scope, negotiated, sent, { [INITIAL_EVENTS_END]: 'true' }))
  try {
    stopStore = objects.store.watch(prefixOf(scope.served, plan.selection.namespace), {
      after: plan.after,
      onEvent(event) {
        sent = event.revision
        const line = lineFor(event, plan.selection, encode)
        if (line !== undefined && !stopped) buffer.send(line)
      },
      onClose: () => stop(true),
    })
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error
    buffer.send(encodeLine('ERROR', JSON.stringify((tooOldRevision(plan.after, error.oldest) as StatusError).status)))
    stop(true)
    return () => undefined
  }
  // Past events are delivered before `watch` returns; they may already have been too many.
  if (stopped) stopStore()
  const timeoutSeconds = plan.options.timeoutSeconds ?? MIN_TIMEOUT_SECONDS * (1 + scope.server.random.next())
  timers.push(clock.after(timeoutSeconds * 1000, () => stop(true)))
  if (plan.options.allowWatchBookmarks) scheduleBookmarks()
  return () => stop(false)

  function scheduleBookmarks(): void {
    const slot = timers.length
    const tick = (): void => {
      // Nothing between the last event sent and the store's newest revision concerned this watcher.
      buffer.send(bookmark(scope, negotiated, Math.max(sent, objects.store.revision), undefined))
      timers[slot] = clock.after(BOOKMARK_EVERY_MS, tick)
    }
    timers[slot] = clock.after(BOOKMARK_EVERY_MS, tick)
  }
}

type EncodeEvent = (type: string, version: Version) => Uint8Array

/** What an event of the store means to a watcher with selectors: entering and leaving the selection are ADDED and DELETED. */
function lineFor(event: StoreEvent, selection: Selection, encode: EncodeEvent): Uint8Array | undefined {
  if (selection.isEverything && selection.name === undefined) {
    if (event.type === 'delete') return encode('DELETED', event.version)
    return encode(event.previous === undefined ? 'ADDED' : 'MODIFIED', event.version)
  }
  const was = event.previous !== undefined && selection.matches(event.previous.object() as KubeObject)
  const is = event.type === 'put' && selection.matches(event.version.object() as KubeObject)
  if (is) return encode(was ? 'MODIFIED' : 'ADDED', event.version)
  if (!was) return undefined
  if (event.type === 'delete') return encode('DELETED', event.version)
  // The object left the selection: its last matching state, at the revision at which it left.
  return encode('DELETED', rewound(event))
}

function rewound(event: StoreEvent): Version {
  const before = event.previous?.object() as KubeObject
  const object: KubeObject = { ...before, metadata: { ...before.metadata, resourceVersion: String(event.revision) } }
  return { ...event.version, key: event.key, revision: event.revision, bytes: Buffer.from(JSON.stringify(object)), object: () => object }
}

const sharedLines = new WeakMap<Version, Map<string, Uint8Array>>()

function eventEncoder(scope: Scope, negotiated: Negotiated): EncodeEvent {
  const { served } = scope
  if (negotiated.shape === 'object') {
    const isStoredForm = served.apiVersion === served.storageApiVersion && served.definition.readStored === undefined
    return (type, version) => {
      const key = `${type} ${served.apiVersion}`
      let lines = sharedLines.get(version)
      const known = lines?.get(key)
      if (known !== undefined) return known
      const body = isStoredForm ? version.bytes : JSON.stringify(convertTo(served, readVersion(served, version), served.apiVersion))
      const line = encodeLine(type, body)
      if (lines === undefined) sharedLines.set(version, (lines = new Map()))
      lines.set(key, line)
      return line
    }
  }
  let hasHeaders = true
  return (type, version) => {
    const object = convertTo(served, readVersion(served, version), served.apiVersion)
    if (negotiated.shape !== 'Table') return encodeLine(type, JSON.stringify(partial(object, negotiated.metaVersion)))
    const shaped = table(scope, negotiated, { objects: [object], meta: { resourceVersion: object.metadata.resourceVersion }, hasHeaders })
    hasHeaders = false
    return encodeLine(type, JSON.stringify(shaped))
  }
}

function bookmark(scope: Scope, negotiated: Negotiated, revision: number, annotations: Record<string, string> | undefined): Uint8Array {
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
    return encodeLine(
      'BOOKMARK',
      JSON.stringify({ ...row, rows: annotations === undefined ? [] : [{ cells: [], object: { ...typed, metadata } }] }),
    )
  }
  const empty = isWhole ? (served.definition.emptyObject?.(served.apiVersion) ?? {}) : {}
  return encodeLine('BOOKMARK', JSON.stringify({ ...empty, ...typed, metadata }))
}

function encodeLine(type: string, object: Uint8Array | string): Uint8Array {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), Buffer.from(object), NEWLINE])
}
const NEWLINE = Buffer.from('}\n')
