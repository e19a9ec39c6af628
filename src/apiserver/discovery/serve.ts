/** Serves discovery: /api, /apis and below, legacy or aggregated as the client accepts, with ETags so that nobody reads it twice. */
import { createHash } from 'node:crypto'
import { failure, noSuchPathError } from '../../kube/status.ts'
import type { Catalog } from '../catalog.ts'
import type { ApiRequest, ApiResponse } from '../http.ts'
import { negotiate, parseAccept } from '../negotiation.ts'
import { respond } from '../respond.ts'
import { PlainNotFound } from '../plain-not-found.ts'
import { header } from '../scope.ts'
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
  /** Undefined when the path is not one of discovery's. */
  serve(path: string, request: ApiRequest): ApiResponse | undefined
}

const AGGREGATED_VERSIONS = ['v2', 'v2beta1']

export function createDiscovery(catalog: Catalog): Discovery {
  let epoch = 0
  const cache = new Map<string, CachedBody>()

  const cached = (key: string, make: () => unknown): CachedBody => {
    if (epoch !== catalog.epoch) {
      cache.clear()
      epoch = catalog.epoch
    }
    let body = cache.get(key)
    if (body === undefined) {
      const bytes = Buffer.from(JSON.stringify(make()))
      body = { bytes, etag: `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"` }
      cache.set(key, body)
    }
    return body
  }

  return {
    serve(path, request) {
      const parts = path.split('/').filter((part) => part !== '')
      if (parts.length === 0) return respond(200, rootDocument(groupsOf(catalog.definitions())))
      if (parts[0] !== 'api' && parts[0] !== 'apis') return undefined
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
      if (parts.length === 1) {
        const version = aggregatedVersion(request)
        if (version !== undefined) return serveAggregated(parts[0], version, request)
      }
      negotiate(header(request, 'accept'), { transforms: false, streams: false, strictWords: false })
      return respond(200, legacyDocument(parts, header(request, 'host') ?? ''), 'json')
    },
  }

  function serveAggregated(root: string, version: string, request: ApiRequest): ApiResponse {
    const body = cached(`${root} ${version}`, () => {
      const definitions = catalog.definitions()
      const groups = groupsOf(definitions).filter((group) => (root === 'api') === (group.name === ''))
      return aggregatedDocument(definitions, groups, version)
    })
    const headers: ApiResponse['headers'] = {
      'cache-control': 'public',
      'content-type': `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
      etag: body.etag,
      vary: 'Accept',
    }
    if (header(request, 'if-none-match') === body.etag) return { status: 304, headers }
    return { status: 200, headers, body: body.bytes }
  }

  function legacyDocument(parts: string[], host: string): unknown {
    const definitions = catalog.definitions()
    const groups = groupsOf(definitions)
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
    throw noSuchPathError()
  }
}

/** The aggregated form, if that is what the client prefers among what it accepts; an unknown version of it alone is 406. */
function aggregatedVersion(request: ApiRequest): string | undefined {
  for (const clause of parseAccept(header(request, 'accept') ?? '')) {
    if (clause.params.as === 'APIGroupDiscoveryList' && clause.params.g === 'apidiscovery.k8s.io' && clause.type === 'application/json') {
      if (AGGREGATED_VERSIONS.includes(clause.params.v ?? '')) return clause.params.v
      continue
    }
    if (clause.type === 'application/json' || clause.type === '*/*') return undefined
  }
  return undefined
}
