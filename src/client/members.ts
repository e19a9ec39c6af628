/**
 * The clusters beyond the one a program lives in, by name, as they come and go. Who keeps the list (from Cluster objects and
 * their credentials) fills it; controllers reach members through it and nothing else.
 */
import type { Caches } from './cache/caches.ts'
import type { Client } from './client.ts'

export interface Member {
  readonly name: string
  readonly client: Client
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
