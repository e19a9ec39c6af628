/** From a resource request to the code that serves it: finds the kind, checks that the verb exists there, and dispatches. */

import { type ApiResponse, header } from '../kube/http.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { RequestInfo } from '../kube/request-info.ts'
import { failure, forbiddenError, noSuchPathError, notFoundError, type StatusError } from '../kube/status.ts'
import type { Served } from './catalog.ts'
import { decodeBody, decodeDeleteOptions } from './codec.ts'
import { type Negotiated, negotiate, negotiateWatch } from './negotiation.ts'
import { parseDeleteOptions, parseWriteOptions } from './options.ts'
import { PlainNotFound } from './plain-not-found.ts'
import { deleteCollection } from './read/delete-collection.ts'
import { get } from './read/get.ts'
import { list } from './read/list.ts'
import { watch } from './read/watch.ts'
import type { WatchRegistry } from './read/watch-registry.ts'
import { respondObject, respondStatus } from './respond.ts'
import { type Scope, type ServerContext, warn } from './scope.ts'
import { scale } from './subresources/scale.ts'
import { createObject } from './write/create.ts'
import { deleteObject } from './write/delete.ts'
import { alignNamespace, checkName } from './write/metadata.ts'
import { patchObject } from './write/patch.ts'
import { updateObject } from './write/update.ts'

export type SubresourceHandler = (scope: Scope, negotiated: Negotiated) => Promise<ApiResponse>

/** Resources and subresources with special behaviour, by `group/resource` or `group/resource/subresource`. */
export type SpecialHandlers = Readonly<Record<string, SubresourceHandler>>

/** Subresources answered by another component, which also does its own content negotiation. */
export type ForwardHandlers = Readonly<Record<string, (scope: Scope) => Promise<ApiResponse>>>

/** Subresources that update the same object; the kind's rules know what each may change. */
const UPDATE_DOORS = new Set(['status', 'finalize', 'approval', 'ephemeralcontainers', 'resize'])

export function methodNotAllowed(): StatusError {
  return failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
}

/** The kind a path names, or the 404 or 405 that says why there is none. */
export function resolve(server: ServerContext, info: RequestInfo): Served {
  const served = server.catalog.find(info.group, info.version, info.resource)
  if (served === undefined) throw unknownResource(server, info)
  const { definition } = served
  if (info.subresource !== '') {
    const subresource = definition.subresources.find((candidate) => candidate.name === info.subresource)
    if (subresource === undefined) throw definition.builtin ? noSuchPathError() : notFoundError(served.groupResource, info.name)
    if (!subresource.verbs.includes(info.verb)) throw methodNotAllowed()
    return served
  }
  if (!definition.namespaced && info.namespace !== '' && !isNamespaceItself(info)) throw unknownResource(server, info)
  if (definition.namespaced && info.namespace === '') {
    if (info.name !== '') throw noSuchPathError()
    if (!['list', 'watch'].includes(info.verb)) throw methodNotAllowed()
  }
  if (info.method === 'HEAD') throw methodNotAllowed()
  if (info.verb === 'create' && info.name !== '') throw methodNotAllowed()
  if (info.name === '' && (info.verb === 'update' || info.verb === 'patch')) throw methodNotAllowed()
  // A custom resource whose definition is being deleted offers fewer verbs, but refuses only creations, and says why (see `create`).
  if (definition.builtin && !definition.verbs.includes(info.verb)) throw methodNotAllowed()
  return served
}

/** A namespace is authorized as if it were inside itself; no other cluster-scoped resource has a namespace in its path. */
const isNamespaceItself = (info: RequestInfo): boolean => info.resource === 'namespaces' && info.name === info.namespace

/** Whether a path names an existing resource (and subresource), whatever verbs it supports. */
export function isServed(server: ServerContext, info: RequestInfo): boolean {
  const served = server.catalog.find(info.group, info.version, info.resource)
  if (served === undefined) return false
  return info.subresource === '' || served.definition.subresources.some((candidate) => candidate.name === info.subresource)
}

function unknownResource(server: ServerContext, info: RequestInfo): Error {
  return server.catalog.hasBuiltinGroup(info.group) ? noSuchPathError() : new PlainNotFound()
}

export interface Router {
  serve(scope: Scope): Promise<ApiResponse>
}

export function createRouter(special: SpecialHandlers, forwards: ForwardHandlers, watches: WatchRegistry): Router {
  return {
    async serve(scope) {
      const { info, served } = scope
      const key = `${info.group}/${info.resource}${info.subresource === '' ? '' : `/${info.subresource}`}`
      const forward = forwards[key]
      if (forward !== undefined) return forward(scope)
      const choose = info.verb === 'watch' ? negotiateWatch : negotiate
      const negotiated = choose(header(scope.request, 'accept'), {
        transforms: true,
        streams: info.name === '' && (info.verb === 'list' || info.verb === 'watch'),
        strictWords: true,
      })
      if (served.version.deprecated)
        warn(scope, served.version.deprecationWarning ?? `${served.apiVersion} ${served.definition.kind} is deprecated`)
      const handler = special[key]
      if (handler !== undefined) return handler(scope, negotiated)
      if (info.subresource === 'scale') return scale(scope, negotiated)
      if (info.subresource !== '' && !UPDATE_DOORS.has(info.subresource)) throw noSuchPathError()
      return serveVerb(scope, negotiated, watches)
    },
  }
}

/** A namespace has no namespace, although authorization treats it as being inside itself. */
function serveVerb(scope: Scope, negotiated: Negotiated, watches: WatchRegistry): Promise<ApiResponse> {
  switch (scope.info.verb) {
    case 'get':
      return get(scope, negotiated)
    case 'list':
      return list(scope, negotiated)
    case 'watch':
      return watch(scope, negotiated, watches)
    case 'create':
      return create(scope, negotiated)
    case 'update':
      return update(scope, negotiated)
    case 'patch':
      return patch(scope, negotiated)
    case 'delete':
      return remove(scope, negotiated)
    case 'deletecollection':
      return deleteCollection(scope, negotiated)
    default:
      throw methodNotAllowed()
  }
}

const agentOf = (scope: Scope): { userAgent: string } => ({ userAgent: header(scope.request, 'user-agent') ?? '' })

async function create(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  const options = parseWriteOptions('CreateOptions', scope.info.query, agentOf(scope))
  const decoded = decodeBody(scope, options.fieldValidation)
  if (!scope.served.definition.verbs.includes('create'))
    throw forbiddenError(
      scope.served.groupResource,
      decoded.metadata.name ?? '',
      'create not allowed while custom resource definition is terminating',
    )
  return respondObject(scope, negotiated, 201, await createObject(scope, decoded, options))
}

async function update(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  const options = parseWriteOptions('UpdateOptions', scope.info.query, agentOf(scope))
  const { info, served } = scope
  // Decoded before anything is looked up, because its errors come first; a retry gets its own copy.
  const sent = decodeBody(scope, options.fieldValidation)
  alignNamespace(scope, sent)
  checkName(sent, info.name)
  let unused: KubeObject | undefined = sent
  const produce = (): KubeObject => {
    const next = unused ?? decodeBody(scope, options.fieldValidation)
    unused = undefined
    return next
  }
  const updated = await updateObject(scope, {
    name: info.name,
    options,
    mayCreate: info.subresource === '' && served.definition.rules.allowCreateOnUpdate === true,
    uidIsPrecondition: true,
    produce,
  })
  return respondObject(scope, negotiated, updated.created ? 201 : 200, updated.object)
}

async function patch(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  const updated = await patchObject(scope)
  return respondObject(scope, negotiated, updated.created ? 201 : 200, updated.object)
}

async function remove(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  const options = parseDeleteOptions(scope.info.query, decodeDeleteOptions(scope))
  const deleted = await deleteObject(scope, scope.info.name, options)
  if (deleted.status !== undefined) return respondStatus(scope, negotiated, deleted.status)
  return respondObject(scope, negotiated, 200, deleted.object)
}
