/** Serves discovery: /api, /apis and below, legacy or aggregated as the client accepts, with ETags so that clients can cache it. */
import { createHash } from 'node:crypto'
import { type ApiRequest, type ApiResponse, header } from '../../kube/http.ts'
import { failure, noSuchPathError } from '../../kube/status.ts'
import type { Catalog } from '../catalog.ts'
import { negotiate, parseAccept } from '../negotiation.ts'
import { PlainNotFound } from '../plain-not-found.ts'
import { respond, respondBytes } from '../respond.ts'

import {
  aggregatedDocument,
  apiVersionsDocument,
  groupDocument,
  groupListDocument,
  groupsOf,
  resourceListDocument,
  rootDocument,
} from './documents.ts'

interface CachedBody {
  bytes: Uint8Array
  etag: string
}

export interface Discovery {
  /** Undefined when the path is not a discovery path. */
  serve(path: string, request: ApiRequest): ApiResponse | undefined
}

export function createDiscovery(catalog: Catalog): Discovery {
  let epoch = 0
  const cache = new Map<string, CachedBody>()

  const cached = (key: string, make: () => Record<string, unknown>): CachedBody => {
    if (epoch !== catalog.epoch) {
      cache.clear()
      epoch = catalog.epoch
    }
    let body = cache.get(key)
    if (body === undefined) {
      const { kind, apiVersion, ...rest } = make()
      // The real server hashes the document before its kind and apiVersion are set.
      const hash = createHash('sha512').update(JSON.stringify(rest)).digest('hex').toUpperCase()
      body = { bytes: Buffer.from(`${JSON.stringify({ kind, apiVersion, ...rest })}\n`), etag: `"${hash}"` }
      cache.set(key, body)
    }
    return body
  }

  return {
    serve(path, request) {
      const parts = path.split('/').filter((part) => part !== '')
      if (parts.length === 0) return respondBytes(200, Buffer.from(JSON.stringify(rootDocument(groupsOf(catalog)), null, 2)))
      if (parts[0] !== 'api' && parts[0] !== 'apis') return undefined
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
      if (parts.length === 1 && prefersAggregated(request)) return serveAggregated(parts[0], request)
      const { format } = negotiate(header(request, 'accept'), {
        transforms: false,
        streams: false,
        // In the real server a different component serves the list of groups, with other messages.
        strictWords: parts.length > 1 || parts[0] === 'api',
      })
      const document = legacyDocument(parts, header(request, 'host') ?? '')
      return format === 'yaml' ? respond(200, document, format) : respondBytes(200, Buffer.from(`${JSON.stringify(document)}\n`))
    },
  }

  function serveAggregated(root: string, request: ApiRequest): ApiResponse {
    const body = cached(root, () => {
      const definitions = catalog.definitions()
      const groups = groupsOf(catalog).filter((group) => (root === 'api') === (group.name === ''))
      return aggregatedDocument(definitions, groups)
    })
    const headers: ApiResponse['headers'] = {
      'cache-control': 'public',
      'content-type': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      etag: body.etag,
      vary: 'Accept',
    }
    if (header(request, 'if-none-match') === body.etag) return { status: 304, headers }
    return { status: 200, headers, body: body.bytes }
  }

  function legacyDocument(parts: string[], host: string): unknown {
    const definitions = catalog.definitions()
    const groups = groupsOf(catalog)
    if (parts[0] === 'api') {
      if (parts.length === 1) return apiVersionsDocument(host)
      if (parts.length === 2 && parts[1] === 'v1') return resourceListDocument(definitions, '', 'v1')
      throw noSuchPathError()
    }
    if (parts.length === 1) return groupListDocument(groups)
    const group = groups.find((candidate) => candidate.name === parts[1] && candidate.name !== '')
    if (group === undefined) throw new PlainNotFound()
    if (parts.length === 2) return { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) }
    if (parts.length === 3 && group.versions.includes(parts[2] ?? '')) return resourceListDocument(definitions, group.name, parts[2] ?? '')
    // Groups of custom resources are served by a component that answers a plain 404 instead of a Status.
    if (!catalog.hasBuiltinGroup(group.name)) throw new PlainNotFound()
    throw noSuchPathError()
  }
}

/** Whether the client accepts the aggregated form before the plain one; the older v2beta1 is no longer served. */
function prefersAggregated(request: ApiRequest): boolean {
  for (const { type, params } of parseAccept(header(request, 'accept') ?? '')) {
    if (type === 'application/json' && params.as === 'APIGroupDiscoveryList') {
      if (params.g === 'apidiscovery.k8s.io' && params.v === 'v2') return true
    } else if (type === 'application/json' || type === '*/*') return false
  }
  return false
}
