/** The clusters of one `up`, for a module that must do something at the hub for the members next to it. */
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Transport } from '../../client/transport.ts'

export interface LocalMember {
  name: string
  url: string
  region: string
  zones: readonly string[]
  transport(): Transport
}

export interface LocalClusters {
  hub(): Transport
  members: readonly LocalMember[]
  clock: Clock
  random: Random
}

export interface LocalMembership {
  /** Before the controllers start: it must not wait for any of them. */
  beforeControllers(): Promise<void>
  /** Once the controllers run. */
  afterControllers(): Promise<void>
}
