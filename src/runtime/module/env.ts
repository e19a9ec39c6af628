/**
 * What a module is given to build its services from: one cluster as the process sees it. The same value for every module of
 * a cluster, so that all of them share one set of caches, one list of members and one index of templates.
 */
import type { Registry } from 'prom-client'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/random.ts'
import type { Caches } from '../../client/cache/caches.ts'
import type { ClusterCache } from '../../client/cache/cluster-cache.ts'
import type { Client } from '../../client/client.ts'
import type { GetText } from '../../client/get-text.ts'
import type { Members } from '../../client/members.ts'
import type { PostJson } from '../../client/post-json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Propagatable } from '../propagatable.ts'
import type { Templates } from '../templates.ts'
import type { Observer } from '../workers.ts'

export type ClusterRole = 'hub' | 'member'

/** What the process around the controllers provides; an absent field is a service it does not offer. */
export interface ProcessDeps {
  /** PEM of the cluster's certificate authority; read each time, because certificates rotate. */
  authority(): string
  /** Signs the token that a Secret keeps for a ServiceAccount; absent where the process does not hold the key. */
  signToken?(account: KubeObject, secret: KubeObject): string
  /** Calls a webhook; absent where none is called. */
  postJson?: PostJson
  /** Asks pods at their addresses; absent where none is asked. */
  getText?: GetText
  /** Where modules register their metrics (default: nowhere). */
  registry?: Registry
}

export interface ModuleEnv extends ProcessDeps {
  role: ClusterRole
  clock: Clock
  random: Random
  log: Log
  caches: Caches
  clusterCache: ClusterCache
  /** The clusters of the fleet by name; empty where the process has no connection to any. */
  members: Members
  /** Everything on this cluster that may be propagated. Built on first use. */
  readonly templates: Templates
  propagatable: Propagatable
  /** A client that names itself after the part of the program that uses it. */
  clientOf(part: string): Client
  /** Whether a field manager is one of the controllers that run here. */
  keepsManager(name: string): boolean
  /** Options for loops that run next to the controllers. */
  observer: Observer & { clock: Clock; random: Random }
}
