/** The controllers of the fleet as one list, in the order in which an object passes through them. */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Controller } from '../runtime/controller.ts'
import { bindingControllers } from './binding/index.ts'
import { dependenciesControllers } from './dependencies/index.ts'
import { type DetectorGates, detectorControllers, type Narrowing } from './detector/index.ts'
import { executionControllers } from './execution/index.ts'
import { type FailoverOptions, failoverControllers } from './failover/index.ts'
import { type ClusterStatusOptions, membershipControllers } from './membership/index.ts'
import { namespaceControllers } from './namespace/index.ts'
import { overridesOf } from './override/index.ts'
import { reflectionControllers } from './reflection/index.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from './resources.ts'
import { scheduler } from './scheduler/index.ts'
import type { FleetSurroundings } from './surroundings.ts'

/** What can be set about the fleet; everything has a default. */
export interface FleetOptions {
  clusterStatus?: Partial<ClusterStatusOptions>
  failover?: Partial<FailoverOptions>
  gates?: DetectorGates
  /** What narrows placements beyond policies, or holds them. */
  narrowings?: readonly Narrowing[]
}

export interface FleetFacts extends FleetSurroundings {
  clock: Clock
  random: Random
}

export function fleetControllers(facts: FleetFacts, options: FleetOptions = {}): Controller[] {
  const withOverrides = { ...facts, applyOverrides: overridesOf }
  return [
    ...membershipControllers(facts, options.clusterStatus),
    ...namespaceControllers(withOverrides),
    ...detectorControllers({ ...facts, gates: options.gates, narrowings: options.narrowings }),
    scheduler(RESOURCE_BINDINGS),
    scheduler(CLUSTER_RESOURCE_BINDINGS),
    ...dependenciesControllers(facts),
    ...bindingControllers(withOverrides),
    ...executionControllers(facts),
    ...reflectionControllers(facts),
    ...failoverControllers(facts, options.failover),
  ]
}
