/**
 * The clusters beyond the one a program lives in, by name, as they come and go. Who keeps the list (from Cluster objects and
 * their credentials) fills it; controllers reach members through it and nothing else.
 */
import type { KubeObject } from '../kube/meta.ts'
import type { Caches } from './cache/caches.ts'
import type { Client } from './client.ts'
import type { Transport } from './transport.ts'

export interface Member {
  readonly name: string
  /** Who speaks to a member is named (a controller by its name, `caches`, …), as at home: the same client for the same part. */
  clientFor(part: string): Client
  /** Of what we manage there (label `karmada.io/managed=true`), a cache per resource somebody asked for. */
  readonly caches: Caches
}

export interface Members {
  /** Undefined while it is unknown, or cannot be reached for want of an address or credentials. */
  get(name: string): Member | undefined
  list(): readonly Member[]
  /** Told when a member can be reached for the first time, in another way than before, or no longer. */
  subscribe(changed: (name: string) => void): () => void
}

/** Where no other cluster can be reached. */
export const NO_MEMBERS: Members = Object.freeze({ get: () => undefined, list: () => [], subscribe: () => () => undefined })

export interface MemberCredentials {
  token: string
  caBundle: string
}

/**
 * The way to the member that a Cluster object describes, for one part of the program; undefined where there is none. A member
 * may be asked for several ways; each is closed by who asked.
 */
export type ConnectMember = (cluster: KubeObject, credentials: MemberCredentials, part: string) => Transport | undefined
