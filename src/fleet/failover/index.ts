/** What happens to workloads that fail, or whose cluster fails: taints by condition, eviction, and removal of the old copies. */

import type { Binding } from '../../kinds/karmada/index.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Controller } from '../../runtime/controller.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'
import { applicationFailover } from './application/controller.ts'
import { clusterTaintPolicy } from './cluster-taint-policy/controller.ts'
import { createEvictionRate, type EvictionRate } from './eviction-rate.ts'
import { gracefulEviction } from './graceful-eviction/controller.ts'
import { FAILOVER_DEFAULTS, type FailoverOptions } from './options.ts'
import { taintEviction } from './taint-eviction/controller.ts'

export type { FailoverOptions } from './options.ts'

interface FailoverDeps {
  interpreter: Interpreter
  /** How fast taints evict bindings (default: as the options say). */
  evictions?: EvictionRate
}

/** One rate for both kinds of bindings. */
export const evictionRateOf = ({
  evictionsPerSecond = FAILOVER_DEFAULTS.evictionsPerSecond,
}: Partial<FailoverOptions> = {}): EvictionRate => createEvictionRate(evictionsPerSecond)

export function failoverControllers({ interpreter, evictions }: FailoverDeps, given: Partial<FailoverOptions> = {}): Controller[] {
  const options = { ...FAILOVER_DEFAULTS, ...given }
  const rate = evictions ?? evictionRateOf(options)
  const ofBindings = (resource: Resource<Binding>): Controller[] => [
    ...(options.noExecuteEviction && options.gates.Failover ? [taintEviction(resource, { options, rate })] : []),
    applicationFailover(resource, interpreter, options.gates),
    gracefulEviction(resource, options),
  ]
  return [
    ...(options.gates.Failover ? [clusterTaintPolicy] : []),
    ...[RESOURCE_BINDINGS, CLUSTER_RESOURCE_BINDINGS].flatMap((resource) => ofBindings(resource as Resource<Binding>)),
  ]
}
