/**
 * One cluster's API server put together: built-in kinds with their rules, our own kinds, custom resources, admission,
 * access control and OpenAPI over one logical cluster of the store. Knows neither disk nor network.
 */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Admission } from '../kinds/admission.ts'
import type { KindDefinition, UserInfo } from '../kinds/kind.ts'
import type { NodeConnections } from '../kube/node-connections.ts'
import type { ClusterStore } from '../store/index.ts'
import { type Access, createAccess } from './access.ts'
import { bootstrapCluster } from './bootstrap.ts'
import { createClusterProxy, type MemberWays, withProxy } from './cluster-proxy/index.ts'
import { followCustomResources } from './custom-resources.ts'
import type { ApiResponse, Handle } from './http.ts'
import { createIdentityDocuments } from './identity-documents.ts'
import { createOpenApi } from './openapi/serve.ts'
import { parseRequestInfo, type RequestInfo } from './request-info.ts'
import { createContext, type ServerContext, type ServerLimits } from './scope.ts'
import { type ApiServer, createApiServer } from './server.ts'
import { podHandlers } from './subresources/pods.ts'
import { reviewHandlers } from './subresources/reviews.ts'

export interface ClusterOptions {
  store: ClusterStore
  clock: Clock
  random: Random
  kinds: readonly KindDefinition[]
  /** Made for the cluster, because some of it keeps state (allocated addresses). */
  admission(context: ServerContext): readonly Admission[]
  access: { staticTokens: readonly { token: string; user: UserInfo }[]; serviceAccountKey: string; issuer?: string }
  /** Port of this server (a promise, where it is known only once it listens) and PEM of its client authority: facts some bootstrap objects carry. */
  port: number | Promise<number>
  clientAuthority: string
  limits?: Partial<ServerLimits>
  /** How to reach into pods: logs, commands, terminals. Without it no node serves any. */
  nodes?: NodeConnections
  /** How a hub's `clusters/proxy` reaches members. Without it there is no such subresource. */
  members?: MemberWays
  /** One more path outside the API. */
  extraPath?(info: RequestInfo): ApiResponse | Promise<ApiResponse> | undefined
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
  const { members } = options
  const context = createContext(members === undefined ? options : { ...options, kinds: withProxy(options.kinds) })
  const access = createAccess(context, options.access)
  context.admission = [...options.admission(context), access.escalation]
  const openApi = createOpenApi(context.catalog, context.clock)
  const identity = createIdentityDocuments(access.serviceAccounts)
  const proxy =
    members === undefined ? undefined : createClusterProxy({ ...members, clock: options.clock, authorize: access.gate.authorize })
  const server = createApiServer({
    context,
    gate: access.gate,
    special: { ...podHandlers({ nodes: options.nodes, authorize: access.gate.authorize }), ...reviewHandlers(access.reviews) },
    forwards: proxy?.handlers,
    extraPaths: (info, request) => options.extraPath?.(info) ?? identity(info, request) ?? openApi(info, request),
    onInternalError: options.onInternalError,
  })
  const customResources = followCustomResources(context, (error, name) =>
    options.onInternalError?.(error, parseRequestInfo('PUT', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}/status`)),
  )
  return {
    handle: server.handle,
    server,
    access,
    ready: bootstrapCluster(context, { port: options.port, clientAuthority: options.clientAuthority }),
    stop() {
      customResources.stop()
      proxy?.stop()
      server.stop()
    },
  }
}
