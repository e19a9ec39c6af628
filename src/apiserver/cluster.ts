/**
 * One cluster's API server put together: built-in kinds with their rules, our own kinds, custom resources, admission,
 * access control and OpenAPI over one logical cluster of the store. Knows neither disk nor network.
 */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Admission } from '../kinds/admission.ts'
import { withOwnKinds } from '../kinds/custom/own-kinds.ts'
import type { KindDefinition, UserInfo } from '../kinds/kind.ts'
import type { HttpPath, Subresource, SubresourceCall } from '../kinds/subresource.ts'
import type { Handle } from '../kube/http.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { NodeConnections } from '../kube/node-connections.ts'
import { parseRequestInfo, type RequestInfo } from '../kube/request-info.ts'
import type { ClusterStore } from '../store/index.ts'
import { type Access, createAccess } from './access.ts'
import { resourceAttributes } from './auth/index.ts'
import { bootstrapCluster } from './bootstrap.ts'
import { followCustomResources } from './custom-resources.ts'
import { createIdentityDocuments } from './identity-documents.ts'
import { createOpenApi } from './openapi/serve.ts'
import type { ForwardHandlers } from './route.ts'
import { createContext, type Scope, type ServerContext, type ServerLimits } from './scope.ts'
import { type ApiServer, createApiServer } from './server.ts'
import { podHandlers } from './subresources/pods.ts'
import { reviewHandlers } from './subresources/reviews.ts'

export interface ClusterOptions {
  store: ClusterStore
  clock: Clock
  random: Random
  kinds: readonly KindDefinition[]
  /** Created per cluster, because some of it keeps state (allocated addresses). */
  admission(context: ServerContext): readonly Admission[]
  access: { staticTokens: readonly { token: string; user: UserInfo }[]; serviceAccountKey: string; issuer?: string }
  /** Port of this server (a promise if it is known only after listening) and PEM of its client CA: some bootstrap objects contain them. */
  port: number | Promise<number>
  clientAuthority: string
  limits?: Partial<ServerLimits>
  /** How to reach into pods: logs, commands, terminals. Absent: no node serves them. */
  nodes?: NodeConnections
  /** Objects that it starts with besides those of every cluster. */
  objects?: readonly KubeObject[]
  /** Subresources that are served from outside the API server. */
  subresources?: readonly Subresource[]
  /** Paths outside the resource API that are also served from outside; the first handler that answers wins. */
  httpPaths?: readonly HttpPath[]
  onInternalError?(error: unknown, info: RequestInfo): void
}

export interface Cluster {
  handle: Handle
  server: ApiServer
  access: Access
  /** Resolves when bootstrap objects are in the store and stored custom resources are served. */
  ready: Promise<void>
  stop(): void
}

export function createCluster(options: ClusterOptions): Cluster {
  const { subresources = [], httpPaths = [] } = options
  const context = createContext({ ...options, kinds: withOwnKinds(withSubresources(options.kinds, subresources)) })
  const access = createAccess(context, options.access)
  context.admission = [...options.admission(context), access.escalation]
  context.hasRight = (user, right) => access.authorizer.authorize(resourceAttributes(user, right)).allowed
  const openApi = createOpenApi(context.catalog, context.clock)
  const identity = createIdentityDocuments(access.serviceAccounts)
  const server = createApiServer({
    context,
    gate: access.gate,
    special: { ...podHandlers({ nodes: options.nodes, authorize: access.gate.authorize }), ...reviewHandlers(access.reviews) },
    forwards: forwardsTo(subresources, access.gate.authorize),
    extraPaths: (info, request) => firstAnswer(httpPaths, info) ?? identity(info, request) ?? openApi(info, request),
    onInternalError: options.onInternalError,
  })
  const customResources = followCustomResources(context, (error, name) =>
    options.onInternalError?.(error, parseRequestInfo('PUT', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}/status`)),
  )
  return {
    handle: server.handle,
    server,
    access,
    ready: bootstrapCluster(context, options),
    stop() {
      customResources.stop()
      for (const subresource of subresources) subresource.stop?.()
      server.stop()
    },
  }
}

function withSubresources(kinds: readonly KindDefinition[], added: readonly Subresource[]): KindDefinition[] {
  return kinds.map((kind) => {
    const own = added.filter(({ of }) => of.group === kind.group && of.plural === kind.plural)
    return own.length === 0 ? kind : { ...kind, subresources: [...kind.subresources, ...own.map(({ info }) => info)] }
  })
}

const forwardsTo = (subresources: readonly Subresource[], authorize: (user: UserInfo, info: RequestInfo) => void): ForwardHandlers =>
  Object.fromEntries(
    subresources.map(({ of, info, handle }) => [
      `${of.group}/${of.plural}/${info.name}`,
      (scope: Scope) => handle(callOf(scope, authorize)),
    ]),
  )

/** The part of the server that a handler outside it needs. */
const callOf = (scope: Scope, authorize: (user: UserInfo, info: RequestInfo) => void): SubresourceCall => ({
  request: scope.request,
  info: scope.info,
  user: scope.user,
  resource: scope.served.groupResource,
  read({ group, resource }, namespace, name) {
    const stored = scope.server.catalog.findStored(group, resource)
    return stored === undefined ? undefined : scope.server.objects.get(stored, namespace, name)?.object
  },
  authorize: (info) => authorize(scope.user, info),
})

function firstAnswer(paths: readonly HttpPath[], info: RequestInfo): ReturnType<HttpPath> {
  for (const path of paths) {
    const answer = path(info)
    if (answer !== undefined) return answer
  }
  return undefined
}
