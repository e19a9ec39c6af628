/** What can be done to a pod besides changing it: bind it to a node, evict it, reach into it. */
import type { KubeObject } from '../../kube/meta.ts'
import { badRequestError, failure, notFoundError, type Status } from '../../kube/status.ts'
import { decodeVirtual } from '../codec.ts'
import type { ApiResponse } from '../http.ts'
import type { Negotiated } from '../negotiation.ts'
import { respond } from '../respond.ts'
import type { SpecialHandlers } from '../route.ts'
import type { Scope } from '../scope.ts'
import { bindPod } from './pod-binding.ts'
import { evictPod } from './pod-eviction.ts'

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
  const eviction = decodeVirtual(scope, { group: 'policy', version: 'v1', kind: 'Eviction' })
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
  const pod = podOf(scope)
  const spec = specOf(pod)
  const asked = scope.info.query.get('container') ?? ''
  const names = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])].map((c) => c.name)
  if (asked !== '' && !names.includes(asked)) throw badRequestError(`container ${asked} is not valid for pod ${scope.info.name}`)
  if (asked === '' && (spec.containers ?? []).length > 1)
    throw badRequestError(
      `a container name must be specified for pod ${scope.info.name}, choose one of: [${(spec.containers ?? []).map((c) => c.name).join(' ')}]`,
    )
  if ((spec.nodeName ?? '') === '') return { status: 204, headers: { 'cache-control': 'no-cache, private' } }
  throw noKubelet(spec.nodeName ?? '')
}

async function connect(scope: Scope): Promise<ApiResponse> {
  const spec = specOf(podOf(scope))
  if ((spec.nodeName ?? '') === '') throw badRequestError(`pod ${scope.info.name} does not have a host assigned`)
  throw noKubelet(spec.nodeName ?? '')
}

async function proxy(scope: Scope): Promise<ApiResponse> {
  podOf(scope)
  throw failure(503, 'ServiceUnavailable', `this server does not reach into ${scope.info.resource}: no node of it serves connections`)
}

/** Nodes that only exist as objects have nobody to ask. */
const noKubelet = (node: string): Error =>
  failure(500, 'InternalError', `Internal error occurred: node ${node} serves neither logs nor commands: nothing listens there`)

async function componentStatuses(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  if (scope.info.name !== '') throw notFoundError(scope.served.groupResource, scope.info.name)
  const list = { kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {}, items: [] }
  return respond(200, list, negotiated.format, scope.warnings)
}
