/** What can be set about failover; the defaults are Karmada's, with eviction on. */
import type { PurgeMode } from '../../kinds/karmada/index.ts'
import { ALL_GATES_ON, type FleetGates } from '../gates.ts'

export interface FailoverOptions {
  /** Whether NoExecute taints drive bindings away (default true). */
  noExecuteEviction: boolean
  /** Bindings that taints may drive away per second, over all clusters (default 0.5). */
  evictionsPerSecond: number
  /** How long a cluster that is not ready or cannot be reached is put up with where a policy does not say (default 0: not at all). */
  tolerationSeconds: number
  /** For bindings that say nothing about the failure of a cluster (default Gracefully). */
  purgeMode: Exclude<PurgeMode, 'Never'>
  /** How long the copy in a cluster that is left waits for the others to be healthy, where a task does not say (default 600). */
  gracefulEvictionTimeoutSeconds: number
  gates: FailoverGates
}

export type FailoverGates = Pick<FleetGates, 'Failover' | 'GracefulEviction' | 'StatefulFailoverInjection'>

export const FAILOVER_DEFAULTS: FailoverOptions = Object.freeze({
  noExecuteEviction: true,
  evictionsPerSecond: 0.5,
  tolerationSeconds: 0,
  purgeMode: 'Gracefully',
  gracefulEvictionTimeoutSeconds: 600,
  gates: ALL_GATES_ON,
})
