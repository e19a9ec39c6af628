/** What can be done to a pod besides changing it: bind it to a node, evict it, reach into it. */
import { type FieldError, forbidden, invalid } from '../../kube/field-error.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { badRequestError, failure, invalidError, notFoundError, type Status } from '../../kube/status.ts'
import { decodeVirtual } from '../codec.ts'
import type { ApiResponse } from '../http.ts'
import type { Negotiated } from '../negotiation.ts'
import { wholeNumber } from '../options.ts'
import { respond } from '../respond.ts'
import type { SpecialHandlers } from '../route.ts'
import type { Scope } from '../scope.ts'
import { bindPod } from './pod-binding.ts'
import { evictPod } from './pod-eviction.ts'

const EVICTION = { group: 'policy', version: 'v1', kind: 'Eviction' }
const CREATED: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

export function podHandlers(): SpecialHandlers {
  return {
    '/pods/binding': bind,
    '/bindings': bind,
    '/pods/eviction': evict,
    '/pods/log': logs,
    '/pods/exec': connect,
    '/pods/attach': connect,
    '/pods/portforward': connect,
    '/pods/proxy': proxy,
    '/services/proxy': proxy,
    '/nodes/proxy': proxy,
    '/componentstatuses': componentStatuses,
  }
}

async function bind(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  const binding = decodeVirtual(scope, { group: '', version: 'v1', kind: 'Binding' })
  const name = scope.info.name === '' ? (binding.metadata.name ?? '') : scope.info.name
  if (scope.info.name !== '' && binding.metadata.name !== scope.info.name)
    throw badRequestError('name in URL does not match name in Binding object')
  await bindPod(scope, name, binding)
  return respond(201, CREATED, negotiated.format, scope.warnings)
}

async function evict(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  const eviction = decodeVirtual(scope, EVICTION, 'v1beta1')
  if (eviction.metadata.name !== scope.info.name) throw badRequestError('name in URL does not match name in Eviction object')
  await evictPod(scope, scope.info.name, eviction)
  return respond(201, CREATED, negotiated.format, scope.warnings)
}

function podOf(scope: Scope): KubeObject {
  const stored = scope.server.objects.get(scope.served, scope.info.namespace, scope.info.name)
  if (stored === undefined) throw notFoundError(scope.served.groupResource, scope.info.name)
  return stored.object
}

interface PodSpec {
  nodeName?: string
  containers?: { name: string }[]
  initContainers?: { name: string }[]
  ephemeralContainers?: { name: string }[]
}

const specOf = (pod: KubeObject): PodSpec => (pod.spec ?? {}) as PodSpec

async function logs(scope: Scope): Promise<ApiResponse> {
  const errors = logOptionErrors(scope.info.query)
  if (errors.length > 0) throw invalidError({ group: '', kind: 'PodLogOptions' }, scope.info.name, errors)
  const spec = specOf(podOf(scope))
  checkContainer(scope, spec)
  if ((spec.nodeName ?? '') === '') return { status: 204, headers: { 'cache-control': 'no-cache, private' } }
  throw noKubelet(scope, spec.nodeName ?? '')
}

function logOptionErrors(query: URLSearchParams): FieldError[] {
  const number = (name: string): number | undefined => wholeNumber(query.get(name))
  const errors: FieldError[] = []
  const [tail, bytes, seconds] = [number('tailLines'), number('limitBytes'), number('sinceSeconds')]
  if (tail !== undefined && tail < 0) errors.push(invalid('tailLines', tail, 'must be greater than or equal to 0'))
  if (bytes !== undefined && bytes < 1) errors.push(invalid('limitBytes', bytes, 'must be greater than 0'))
  if (seconds !== undefined && query.get('sinceTime') !== null)
    errors.push(forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else if (seconds !== undefined && seconds < 1) errors.push(invalid('sinceSeconds', seconds, 'must be greater than 0'))
  return errors
}

/** The container a request means must be there, and may go unsaid only where there is one. */
function checkContainer(scope: Scope, spec: PodSpec): void {
  const asked = scope.info.query.get('container') ?? ''
  const names = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])].map((c) => c.name)
  if (asked !== '' && !names.includes(asked)) throw badRequestError(`container ${asked} is not valid for pod ${scope.info.name}`)
  if (asked === '' && (spec.containers ?? []).length > 1)
    throw badRequestError(`a container name must be specified for pod ${scope.info.name}, choose one of: [${names.join(' ')}]`)
}

async function connect(scope: Scope): Promise<ApiResponse> {
  const spec = specOf(podOf(scope))
  if (scope.info.subresource !== 'portforward') checkContainer(scope, spec)
  if ((spec.nodeName ?? '') === '') throw badRequestError(`pod ${scope.info.name} does not have a host assigned`)
  throw noKubelet(scope, spec.nodeName ?? '')
}

async function proxy(scope: Scope): Promise<ApiResponse> {
  const { podIP = '' } = (podOf(scope).status ?? {}) as { podIP?: string }
  if (scope.info.resource === 'pods' && podIP === '') throw badRequestError('address not allowed')
  throw failure(503, 'ServiceUnavailable', `this server does not reach into ${scope.info.resource}: no node of it serves connections`)
}

/** Nodes that only exist as objects have nobody to ask. That a node is not even that is told of the pod's resource. */
const noKubelet = (scope: Scope, node: string): Error =>
  nodeOf(scope, node) === undefined
    ? notFoundError(scope.served.groupResource, node)
    : failure(500, 'InternalError', `Internal error occurred: node ${node} serves neither logs nor commands: nothing listens there`)

function nodeOf(scope: Scope, name: string): unknown {
  const nodes = scope.server.catalog.findStored('', 'nodes')
  return nodes === undefined ? undefined : scope.server.objects.get(nodes, '', name)
}

async function componentStatuses(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  if (scope.info.name !== '') throw notFoundError(scope.served.groupResource, scope.info.name)
  const list = { kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {}, items: [] }
  return respond(200, list, negotiated.format, scope.warnings)
}
