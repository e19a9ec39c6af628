/**
 * The API server as a function: `handle(request)` authenticates, authorizes, finds the kind and serves the verb. It knows
 * neither sockets nor any clock but the one it is given; listeners, in-process clients and the worlds of tests all call this.
 */
import type { UserInfo } from '../kinds/kind.ts'
import { goQuote } from '../kube/go-print.ts'
import { type ApiRequest, type ApiResponse, type Handle, header } from '../kube/http.ts'
import { checkPathSegmentName } from '../kube/names.ts'
import { isMalformedPath, parseRequestInfo, type RequestInfo } from '../kube/request-info.ts'
import { badRequestError, failure, internalServerError, StatusError } from '../kube/status.ts'
import { StoreUnavailableError } from '../store/index.ts'
import type { Catalog } from './catalog.ts'
import { createDiscovery } from './discovery/serve.ts'
import { createHealth, type HealthCheck, text, versionResponse } from './health.ts'
import { createRequestLimiter } from './limits.ts'
import { createMetrics, type ServerMetrics } from './metrics.ts'
import { errorFormat } from './negotiation.ts'
import type { Objects } from './objects.ts'
import { PlainNotFound } from './plain-not-found.ts'
import { createWatchRegistry } from './read/watch-registry.ts'
import { respondError } from './respond.ts'
import { createRouter, type ForwardHandlers, isServed, methodNotAllowed, resolve, type SpecialHandlers } from './route.ts'
import type { Scope, ServerContext } from './scope.ts'

/** Who is asking, and whether they are allowed to: both throw StatusErrors. */
export interface Gate {
  authenticate(request: ApiRequest): UserInfo | Promise<UserInfo>
  authorize(user: UserInfo, info: RequestInfo): void
}

export interface ApiServerOptions {
  context: ServerContext
  gate: Gate
  special?: SpecialHandlers
  forwards?: ForwardHandlers
  /** Paths outside the API that are served elsewhere (OpenAPI): undefined for a path that is not. */
  extraPaths?(info: RequestInfo, request: ApiRequest): ApiResponse | Promise<ApiResponse> | undefined
  healthChecks?: Record<string, HealthCheck>
  /** Called once for each internal failure. */
  onInternalError?(error: unknown, info: RequestInfo): void
}

export interface ApiServer {
  handle: Handle
  catalog: Catalog
  objects: Objects
  metrics: ServerMetrics
  /** Ends all watches; requests after this get 503. */
  stop(): void
}

export function createApiServer(options: ApiServerOptions): ApiServer {
  const { context, gate } = options
  const { clock, limits } = context
  const watches = createWatchRegistry(limits.watchers)
  const router = createRouter(options.special ?? {}, options.forwards ?? {}, watches)
  const discovery = createDiscovery(context.catalog)
  const limiter = createRequestLimiter(limits, clock)
  const metrics = createMetrics({
    inFlight: () => limiter.inFlight,
    watches: () => watches.open,
    revision: () => context.objects.store.revision,
    isServed: (info) => isServed(context, info),
  })
  let isStopping = false
  const health = createHealth({
    ping: () => undefined,
    ...(options.healthChecks ?? {}),
    shutdown: () => (isStopping ? 'process is shutting down' : undefined),
  })

  const handle: Handle = async (request) => {
    if (isMalformedPath(request.url)) return text(400, '400 Bad Request')
    const info = parseRequestInfo(request.method, request.url)
    const started = clock.now()
    const warnings: string[] = []
    let response: ApiResponse
    try {
      response = await serve(request, info, warnings)
    } catch (error) {
      response =
        error instanceof PlainNotFound
          ? text(404, `${error.message}\n`)
          : respondError(asStatusError(error, info), { warnings, format: errorFormat(header(request, 'accept')) })
    }
    metrics.observe(info, response.status, clock.now() - started)
    return response
  }

  async function serve(request: ApiRequest, info: RequestInfo, warnings: string[]): Promise<ApiResponse> {
    if (isStopping && info.isResource)
      throw failure(503, 'ServiceUnavailable', 'the server is shutting down; try again when it is back', { retryAfterSeconds: 1 })
    const user = await gate.authenticate(request)
    gate.authorize(user, info)
    return limiter.pass(user, async () => {
      if (!info.isResource) return servePath(request, info)
      checkRequest(request, info)
      const scope: Scope = { server: context, request, info, served: resolve(context, info), user, warnings }
      checkName(info.name)
      // A namespace is authorized as if it were inside itself, and stored without a namespace.
      if (info.resource === 'namespaces' && info.group === '') scope.info = { ...info, namespace: '' }
      return router.serve(scope)
    })
  }

  async function servePath(request: ApiRequest, info: RequestInfo): Promise<ApiResponse> {
    const healthy = health.serve(info)
    if (healthy !== undefined) return healthy
    if (info.path.startsWith('//')) throw new PlainNotFound()
    if (info.path === '/version' || info.path === '/version/') {
      if (info.method !== 'GET') throw methodNotAllowed()
      return versionResponse()
    }
    if (info.path === '/metrics') return metrics.serve()
    const extra = await options.extraPaths?.(info, request)
    if (extra !== undefined) return extra
    const discovered = discovery.serve(info.path, request)
    if (discovered !== undefined) return discovered
    throw new PlainNotFound()
  }

  function checkRequest(request: ApiRequest, info: RequestInfo): void {
    const size = request.body?.length ?? 0
    if (size > limits.bodyBytes) throw failure(413, 'RequestEntityTooLarge', `Request entity is too large: limit is ${limits.bodyBytes}`)
    if (info.path.startsWith('//')) throw new PlainNotFound()
    if (info.name.length > MAX_NAME || info.namespace.length > MAX_NAME)
      throw failure(400, 'BadRequest', `names in a path may have at most ${MAX_NAME} characters`)
  }

  /** A name that cannot be part of a key is refused. */
  function checkName(name: string): void {
    const wrong = name === '' ? [] : checkPathSegmentName(name)
    if (wrong.length > 0) throw badRequestError(`Name parameter invalid: ${goQuote(name)}: ${wrong.join(';')}`)
  }

  function asStatusError(error: unknown, info: RequestInfo): StatusError {
    if (error instanceof StatusError) return error
    if (error instanceof StoreUnavailableError)
      return failure(503, 'ServiceUnavailable', `the store cannot take writes now: ${error.message}`, { retryAfterSeconds: 1 })
    options.onInternalError?.(error, info)
    return internalServerError('the request could not be served; the server has logged why')
  }

  return {
    handle,
    catalog: context.catalog,
    objects: context.objects,
    metrics,
    stop() {
      isStopping = true
      watches.closeAll()
    },
  }
}

/** Far longer than any name that can be stored: anything longer is not even looked up. */
const MAX_NAME = 4096
