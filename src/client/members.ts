/**
 * The other clusters of a fleet, by name, as they come and go. The list is derived from Cluster objects and their
 * credentials; controllers reach members only through it.
 */
import type { KubeObject } from '../kube/meta.ts'
import type { Caches } from './cache/caches.ts'
import type { Client } from './client.ts'
import type { Transport } from './transport.ts'

export interface Member {
  readonly name: string
  /** `part` names the caller (a controller by its name, `caches`, …), as on the hub: one client per part. */
  clientFor(part: string): Client
  /** Only what we manage there (label `karmada.io/managed=true`), with a cache per requested resource. */
  readonly caches: Caches
}

export interface Members {
  /** Undefined while it is unknown, or unreachable because its address or credentials are missing. */
  get(name: string): Member | undefined
  list(): readonly Member[]
  /** Called when a member becomes reachable, gets a new connection, or becomes unreachable. */
  subscribe(changed: (name: string) => void): () => void
}

/** Where no other cluster can be reached. */
export const NO_MEMBERS: Members = Object.freeze({ get: () => undefined, list: () => [], subscribe: () => () => undefined })

export interface MemberCredentials {
  token: string
  caBundle: string
}

/**
 * Connects to the member that a Cluster object describes, for one part of the program; undefined where that is impossible. A
 * member may be connected to several times; each caller closes its own transport.
 */
export type ConnectMember = (cluster: KubeObject, credentials: MemberCredentials, part: string) => Transport | undefined
