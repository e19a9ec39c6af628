/**
 * LIST: a consistent snapshot, in pages when asked, with the bytes of the store passed on untouched when nothing has to
 * be selected, converted or reshaped. Cost: O(objects returned), or O(objects up to the page's last match) with a selector.
 */
import { type ByteText, joinedBytes, utf8Of } from '../../base/byte-text.ts'
import type { ApiResponse } from '../../kube/http.ts'
import { badRequestError, failure } from '../../kube/status.ts'
import { CompactedError, FutureRevisionError, type RangeResult, type Version } from '../../store/index.ts'
import type { Negotiated } from '../negotiation.ts'
import { convertTo, glanceAt, isServedAsStored, keyOf, prefixOf, typePrefixLength } from '../objects.ts'
import { type ListOptions, parseListOptions } from '../options.ts'
import { type ListMeta, respond, respondBytes, shapeList, table } from '../respond.ts'
import type { Scope } from '../scope.ts'
import { decodeContinue, encodeContinue } from './continue-token.ts'
import { parseRevision, waitForRevision } from './revision.ts'
import { parseSelection, type Selection } from './selection.ts'

export interface Listed {
  versions: Version[]
  meta: ListMeta
}

export async function list(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  const options = parseListOptions(scope.info.query, false)
  const selection = parseSelection(scope, options)
  const listed = await collect(scope, options, selection)
  return render(scope, negotiated, listed)
}

/** Reads the versions that a list request selects; also used by deletecollection. */
export async function collect(scope: Scope, options: ListOptions, selection: Selection): Promise<Listed> {
  const revision = await revisionToRead(scope, options)
  const limit = options.resourceVersion === '0' ? 0 : options.limit
  const prefix = prefixOf(scope.served, selection.namespace)
  const token = options.continueToken === '' ? undefined : decodeContinue(options.continueToken, prefix)
  const at = token === undefined ? revision : token.revision
  const page = readPage(scope, { prefix, at, after: token?.after, limit, selection })
  const meta: ListMeta = { resourceVersion: String(page.revision) }
  if (page.last !== undefined) {
    meta.continue = encodeContinue(page.revision, prefix, page.last)
    if (selection.selectsAll) meta.remainingItemCount = page.remaining
  }
  return { versions: page.versions, meta }
}

async function revisionToRead(scope: Scope, options: ListOptions): Promise<number | undefined> {
  const given = parseRevision(options.resourceVersion)
  if (options.continueToken !== '') {
    if (given !== undefined && given !== 0) throw badRequestError('specifying resource version is not allowed when using continue')
    return undefined
  }
  if (given === undefined || given === 0) return undefined
  await waitForRevision(scope, given)
  // Without resourceVersionMatch, a limit makes the given version an exact one: the original paging behaviour.
  const isExact = options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && options.limit > 0)
  return isExact ? given : undefined
}

interface PageRequest {
  prefix: string
  at: number | undefined
  after: string | undefined
  limit: number
  selection: Selection
}

interface Page {
  versions: Version[]
  revision: number
  /** Key of the last object returned, when more follow. */
  last: string | undefined
  remaining: number
}

function readPage(scope: Scope, request: PageRequest): Page {
  const { selection, limit } = request
  if (selection.name !== undefined && (selection.namespace !== '' || !scope.served.definition.namespaced)) return readOne(scope, request)
  if (selection.selectsAll) {
    const result = range(scope, request, limit === 0 ? undefined : limit)
    return {
      versions: result.versions,
      revision: result.revision,
      last: result.more ? result.versions.at(-1)?.key : undefined,
      remaining: result.remaining,
    }
  }
  return readSelected(scope, request)
}

/** Scans in growing pieces, so that a page costs what lies before its last match and not the whole namespace. */
function readSelected(scope: Scope, request: PageRequest): Page {
  const { selection, limit } = request
  const found: Version[] = []
  let { at, after } = request
  for (let size = FIRST_SCAN; ; size *= 2) {
    const piece = range(scope, { ...request, at, after }, limit === 0 ? undefined : size)
    at = piece.revision
    for (const [i, version] of piece.versions.entries()) {
      if (!selection.matches(glanceAt(scope.served, version))) continue
      found.push(version)
      if (found.length !== limit) continue
      // As in the real server, a full page has a continue token if any object follows, whether or not it matches.
      const isLast = i === piece.versions.length - 1 && !piece.more
      return { versions: found, revision: at, last: isLast ? undefined : version.key, remaining: 0 }
    }
    after = piece.versions.at(-1)?.key
    if (!piece.more) return { versions: found, revision: at, last: undefined, remaining: 0 }
  }
}

const FIRST_SCAN = 500

function readOne(scope: Scope, request: PageRequest): Page {
  const { store } = scope.server.objects
  const revision = request.at ?? store.revision
  const namespace = scope.served.definition.namespaced ? request.selection.namespace : ''
  const version = guarded(() => store.get(keyOf(scope.served, namespace, request.selection.name ?? ''), request.at))
  const isMatch = version !== undefined && request.selection.matches(glanceAt(scope.served, version))
  return { versions: isMatch ? [version] : [], revision, last: undefined, remaining: 0 }
}

function range(scope: Scope, request: PageRequest, limit: number | undefined): RangeResult {
  return guarded(() => scope.server.objects.store.range(request.prefix, { after: request.after, revision: request.at, limit }), request)
}

function guarded<T>(read: () => T, request?: PageRequest): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof CompactedError) throw expired(request)
    if (error instanceof FutureRevisionError) throw badRequestError(error.message)
    throw error
  }
}

/** The old snapshot is gone; the token in the answer continues from the same place in the current state. */
function expired(request: PageRequest | undefined): Error {
  if (request?.after === undefined) return failure(410, 'Expired', 'The resourceVersion for the provided list is too old.')
  const error = failure(
    410,
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  )
  error.status.metadata = { continue: encodeContinue(-1, request.prefix, request.after) }
  return error
}

export function render(scope: Scope, negotiated: Negotiated, listed: Listed): ApiResponse {
  const { served } = scope
  if (negotiated.shape !== 'object') {
    if (negotiated.shape === 'Table' && negotiated.format === 'json') return renderTable(scope, negotiated, listed)
    const objects = listed.versions.map((version) => convertTo(served, glanceAt(served, version), served.apiVersion))
    return respond(200, shapeList(scope, negotiated, { objects, meta: listed.meta }), negotiated.format, scope.warnings)
  }
  if (negotiated.format === 'json' && listed.versions.every((version) => isServedAsStored(served, version)))
    return renderBytes(scope, listed)
  const items = listed.versions.map((version) => {
    const object = convertTo(served, glanceAt(served, version), served.apiVersion)
    return served.definition.builtin ? { ...object, kind: undefined, apiVersion: undefined } : object
  })
  const body = { kind: served.definition.listKind, apiVersion: served.apiVersion, metadata: listed.meta, items }
  return respond(200, body, negotiated.format, scope.warnings)
}

const TABLE_BATCH = 250

/** Rendered in batches, so that each batch's garbage is collected while still young. */
function renderTable(scope: Scope, negotiated: Negotiated, { versions, meta }: Listed): ApiResponse {
  const { served } = scope
  const batch = (from: number): ReturnType<typeof table> => {
    const objects = versions
      .slice(from, from + TABLE_BATCH)
      .map((version) => convertTo(served, glanceAt(served, version), served.apiVersion))
    return table(scope, negotiated, { objects, meta })
  }
  const chunks = [Buffer.from(JSON.stringify(batch(0)).slice(0, -TABLE_END.length))]
  for (let from = TABLE_BATCH; from < versions.length; from += TABLE_BATCH)
    chunks.push(Buffer.from(`,${JSON.stringify(batch(from).rows).slice(1, -1)}`))
  chunks.push(Buffer.from(TABLE_END))
  return respondBytes(200, Buffer.concat(chunks), { warnings: scope.warnings })
}

const TABLE_END = ']}'
const COMMA = utf8Of(',')
const OPEN = utf8Of('{')

/** Items of built-in lists carry no kind and apiVersion: these are stripped from the start of the stored bytes. */
function renderBytes(scope: Scope, listed: Listed): ApiResponse {
  const { served } = scope
  const head = `{"kind":${JSON.stringify(served.definition.listKind)},"apiVersion":${JSON.stringify(served.apiVersion)},"metadata":${JSON.stringify(listed.meta)},"items":[`
  const cut = served.definition.builtin ? typePrefixLength(served.definition.kind, served.storageApiVersion) : 0
  const parts = [utf8Of(head)]
  for (const [i, { text }] of listed.versions.entries()) {
    if (i > 0) parts.push(COMMA)
    if (cut > 0) parts.push(OPEN, text.slice(cut) as ByteText)
    else parts.push(text)
  }
  parts.push(utf8Of(']}'))
  return respondBytes(200, joinedBytes(parts), { warnings: scope.warnings })
}
