/**
 * Serves /openapi/v2 and /openapi/v3 as the real server does: JSON or protobuf as the client prefers, an ETag on every
 * document, and v3 documents under an address with their hash, which may be cached for ever.
 */
import type { Clock } from '../../base/clock.ts'
import { type ApiRequest, type ApiResponse, header } from '../../kube/http.ts'
import type { RequestInfo } from '../../kube/request-info.ts'
import type { Catalog } from '../catalog.ts'
import { parseAccept } from '../negotiation.ts'

import { createDocuments, type Document } from './documents.ts'

const V2 = '/openapi/v2'
const V3 = '/openapi/v3'
const UNCACHED = 'no-cache, private'
const JSON_TYPE = 'application/json'
const YEAR_MS = 365 * 24 * 3600 * 1000

/** Every method is answered alike, as in the real server. Without a clock a hashed address is immutable but has no expiry date. */
export function createOpenApi(catalog: Catalog, clock?: Clock): (info: RequestInfo, request: ApiRequest) => ApiResponse | undefined {
  const documents = createDocuments(catalog)
  return (info, request) => {
    if (info.path === V2) {
      const headers = { 'cache-control': UNCACHED, vary: ['Accept-Encoding', 'Accept'] }
      return answer(documents.v2(), request, { version: 'v2', headers })
    }
    if (info.path === V3) return index()
    if (!info.path.startsWith(`${V3}/`)) return undefined
    const place = info.path.slice(V3.length + 1)
    const document = documents.v3(place)
    if (document === undefined) return { status: 404, headers: { 'cache-control': UNCACHED } }
    return hashed(document, request, info)
  }

  /** Its content type is Go's default for an answer that sets none. */
  function index(): ApiResponse {
    const paths = Object.fromEntries(documents.places().map((place) => [place, { serverRelativeURL: addressOf(place) }]))
    const headers = { 'cache-control': UNCACHED, 'content-type': 'text/plain; charset=utf-8' }
    return { status: 200, headers, body: Buffer.from(JSON.stringify({ paths })) }
  }

  function addressOf(place: string): string {
    return `${V3}/${place}?hash=${documents.v3(place)?.hash() ?? ''}`
  }

  function hashed(document: Document, request: ApiRequest, info: RequestInfo): ApiResponse {
    const headers: ApiResponse['headers'] = { 'cache-control': UNCACHED, vary: 'Accept' }
    const asked = info.query.get('hash') ?? ''
    if (asked === '' || formOf(request, 'v3') === undefined) return answer(document, request, { version: 'v3', headers })
    const hash = document.hash()
    if (asked !== hash) {
      const { headers: named } = answer(document, request, { version: 'v3', headers })
      return { status: 301, headers: { ...named, location: `${info.path}?hash=${hash}` } }
    }
    headers['cache-control'] = 'public, immutable'
    if (clock !== undefined) headers.expires = new Date(clock.now() + YEAR_MS).toUTCString().replace('GMT', 'UTC')
    return answer(document, request, { version: 'v3', headers })
  }
}

interface How {
  version: 'v2' | 'v3'
  headers: ApiResponse['headers']
}

function answer(document: Document, request: ApiRequest, { version, headers }: How): ApiResponse {
  const form = formOf(request, version)
  if (form === undefined) return { status: 406, headers }
  const known = header(request, 'if-none-match')
  const isKnown = known !== undefined && matches(known, etagOf(document))
  if (isKnown) return { status: 304, headers: { ...headers, etag: etagOf(document) } }
  const type = form === 'json' ? JSON_TYPE : `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`
  // The bytes before the hash, since computing them yields both: in the other order a new document would be made twice.
  const body = form === 'json' ? document.json() : document.protobuf()
  return { status: 200, headers: { ...headers, 'content-type': type, etag: etagOf(document) }, body }
}

const etagOf = (document: Document): string => `"${document.hash()}"`

/** The first form that the client accepts, in its order of preference; JSON where it has none. */
function formOf(request: ApiRequest, version: 'v2' | 'v3'): 'json' | 'protobuf' | undefined {
  const accept = header(request, 'accept') ?? ''
  for (const { type } of parseAccept(accept === '' ? '*/*' : accept)) {
    if (type === JSON_TYPE || type === 'application/*' || type === '*/*' || type === '*') return 'json'
    if (type === `application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`) return 'protobuf'
    if (type === `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`) return 'protobuf'
  }
  return undefined
}

function matches(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
