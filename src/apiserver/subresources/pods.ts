/** The operations on a pod other than changing it: bind it to a node, evict it, reach into it. */
import type { UserInfo } from '../../kinds/kind.ts'
import type { ApiResponse } from '../../kube/http.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { NodeConnection, NodeConnections, PodContainer } from '../../kube/node-connections.ts'
import type { RequestInfo } from '../../kube/request-info.ts'
import { badRequestError, failure, invalidError, notFoundError, type Status } from '../../kube/status.ts'
import { decodeVirtual } from '../codec.ts'
import type { Negotiated } from '../negotiation.ts'
import { respond } from '../respond.ts'
import type { SpecialHandlers } from '../route.ts'
import type { Scope } from '../scope.ts'
import { connectPod, type OpenConversations } from '../streams/connect-pod.ts'
import { bindPod } from './pod-binding.ts'
import { evictPod } from './pod-eviction.ts'
import { logOptionErrors, serveLogs } from './pod-logs.ts'

const EVICTION = { group: 'policy', version: 'v1', kind: 'Eviction' }
const CREATED: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

export interface PodAccess {
  /** How to reach into pods; absent: no node can be reached. */
  nodes?: NodeConnections
  authorize(user: UserInfo, info: RequestInfo): void
}

export function podHandlers(access: PodAccess): SpecialHandlers {
  const open: OpenConversations = { count: 0 }
  const connect = async (scope: Scope): Promise<ApiResponse> => {
    // A user who may only read must not run commands by using GET, as WebSockets do.
    access.authorize(scope.user, { ...scope.info, verb: 'create' })
    const target = targetOf(scope, access.nodes)
    if (target.nodeName === '') throw badRequestError(`pod ${scope.info.name} does not have a host assigned`)
    if (target.node === undefined || scope.info.subresource === 'portforward') throw noKubelet(scope, target.nodeName)
    return connectPod(scope, { of: target.of, node: target.node }, open)
  }
  const logs = async (scope: Scope): Promise<ApiResponse> => {
    const errors = logOptionErrors(scope.info.query)
    if (errors.length > 0) throw invalidError({ group: '', kind: 'PodLogOptions' }, scope.info.name, errors)
    const target = targetOf(scope, access.nodes)
    if (target.nodeName === '') return { status: 204, headers: { 'cache-control': 'no-cache, private' } }
    if (target.node === undefined) throw noKubelet(scope, target.nodeName)
    return serveLogs(scope.info.query, target.of, { node: target.node, nowMs: scope.server.clock.now() })
  }
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

interface Target {
  of: PodContainer
  /** Empty while the pod has none. */
  nodeName: string
  node: NodeConnection | undefined
}

function targetOf(scope: Scope, nodes: NodeConnections | undefined): Target {
  const pod = podOf(scope)
  const spec = specOf(pod)
  if (scope.info.subresource !== 'portforward') checkContainer(scope, spec)
  const nodeName = spec.nodeName ?? ''
  const node = nodeName === '' ? undefined : nodeOf(scope, nodeName)
  const of: PodContainer = {
    namespace: scope.info.namespace,
    pod: scope.info.name,
    podUid: pod.metadata.uid ?? '',
    container: scope.info.query.get('container') || (spec.containers?.[0]?.name ?? ''),
  }
  return { of, nodeName, node: node === undefined ? undefined : nodes?.find(node) }
}

/** The requested container must exist; it may be omitted only if the pod has a single one. */
function checkContainer(scope: Scope, spec: PodSpec): void {
  const asked = scope.info.query.get('container') ?? ''
  const names = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])].map((c) => c.name)
  if (asked !== '' && !names.includes(asked)) throw badRequestError(`container ${asked} is not valid for pod ${scope.info.name}`)
  if (asked === '' && (spec.containers ?? []).length > 1)
    throw badRequestError(`a container name must be specified for pod ${scope.info.name}, choose one of: [${names.join(' ')}]`)
}

async function proxy(scope: Scope): Promise<ApiResponse> {
  const { podIP = '' } = (podOf(scope).status ?? {}) as { podIP?: string }
  if (scope.info.resource === 'pods' && podIP === '') throw badRequestError('address not allowed')
  throw failure(503, 'ServiceUnavailable', `this server does not reach into ${scope.info.resource}: no node of it serves connections`)
}

/** A node that is only an object cannot be reached. A missing node is reported under the pod's resource. */
const noKubelet = (scope: Scope, node: string): Error =>
  nodeOf(scope, node) === undefined
    ? notFoundError(scope.served.groupResource, node)
    : failure(500, 'InternalError', `Internal error occurred: node ${node} serves neither logs nor commands: nothing listens there`)

function nodeOf(scope: Scope, name: string): KubeObject | undefined {
  const nodes = scope.server.catalog.findStored('', 'nodes')
  return nodes === undefined ? undefined : scope.server.objects.get(nodes, '', name)?.object
}

async function componentStatuses(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  if (scope.info.name !== '') throw notFoundError(scope.served.groupResource, scope.info.name)
  const list = { kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {}, items: [] }
  return respond(200, list, negotiated.format, scope.warnings)
}
