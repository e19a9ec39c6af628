/** The options of failover; the defaults are Karmada's, with eviction on. */
import type { PurgeMode } from '../../kinds/karmada/index.ts'
import { ALL_GATES_ON, type FleetGates } from '../gates.ts'

export interface FailoverOptions {
  /** Whether NoExecute taints evict bindings (default true). */
  noExecuteEviction: boolean
  /** Bindings that taints may evict per second, over all clusters (default 0.5). */
  evictionsPerSecond: number
  /** How long a cluster that is not ready or unreachable is tolerated, unless a policy says otherwise (default 0: not at all). */
  tolerationSeconds: number
  /** For bindings without a setting for cluster failover (default Gracefully). */
  purgeMode: Exclude<PurgeMode, 'Never'>
  /** How long an evicted copy waits for the others to become healthy, unless its task says otherwise (default 600). */
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
