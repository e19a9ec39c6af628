/** Everything a handler needs to know about the server and the request it serves. */
import type { Clock } from '../base/clock.ts'
import { formatTime } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Admission, Right } from '../kinds/admission.ts'
import type { KindDefinition, UserInfo } from '../kinds/kind.ts'
import type { ApiRequest } from '../kube/http.ts'
import type { RequestInfo } from '../kube/request-info.ts'
import type { ClusterStore } from '../store/index.ts'
import { type Catalog, createCatalog, type Served } from './catalog.ts'
import { createObjects, type Objects } from './objects.ts'

/** What lives as long as the server. */
export interface ServerContext {
  clock: Clock
  random: Random
  catalog: Catalog
  objects: Objects
  admission: readonly Admission[]
  /** Whether a user has a right. */
  hasRight(user: UserInfo, right: Right): boolean
  limits: ServerLimits
}

export interface ServerLimits {
  /** Bytes of a request body (default 3 MiB, as the real server). */
  bodyBytes: number
  /** Bytes of one stored object (default 1.5 MiB, etcd's limit). */
  objectBytes: number
  /** Concurrent requests before new ones get 429. */
  inFlight: number
  /** Watches open at once. */
  watchers: number
  /** Bytes and events by which a watcher may fall behind before it is closed. */
  watchBufferBytes: number
  watchBufferEvents: number
  /** Seconds a list at a future resourceVersion waits before it gives up. */
  futureRevisionWaitSeconds: number
  /** Requests per second and burst of one user (system:masters are exempt). */
  userRate: number
  userBurst: number
}

export const DEFAULT_LIMITS: ServerLimits = {
  bodyBytes: 3 * 1024 * 1024,
  objectBytes: 1.5 * 1024 * 1024,
  inFlight: 2000,
  watchers: 10_000,
  watchBufferBytes: 8 * 1024 * 1024,
  watchBufferEvents: 10_000,
  futureRevisionWaitSeconds: 3,
  userRate: 2000,
  userBurst: 4000,
}

/** What a server works on, before admission and access control are built from it. */
export function createContext(options: {
  store: ClusterStore
  clock: Clock
  random: Random
  kinds: readonly KindDefinition[]
  limits?: Partial<ServerLimits>
}): ServerContext {
  return {
    clock: options.clock,
    random: options.random,
    catalog: createCatalog(options.kinds),
    objects: createObjects(options.store),
    admission: [],
    hasRight: () => false,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
  }
}

/** One request to a resource. */
export interface Scope {
  server: ServerContext
  request: ApiRequest
  info: RequestInfo
  served: Served
  user: UserInfo
  /** Texts of Warning headers, in order; each is sent once. */
  warnings: string[]
}

export const nowOf = (scope: { server: ServerContext }): string => formatTime(scope.server.clock.now())

export function warn(scope: { warnings: string[] }, text: string): void {
  if (!scope.warnings.includes(text)) scope.warnings.push(text)
}
