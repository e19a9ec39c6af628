/** The controllers of the fleet as one list, in the order in which an object passes through them. */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from '../kinds/karmada/resources.ts'
import type { Controller } from '../runtime/controller.ts'
import { bindingControllers } from './binding/index.ts'
import { dependenciesControllers } from './dependencies/index.ts'
import { type DetectorGates, detectorControllers, type Narrowing } from './detector/index.ts'
import { executionControllers } from './execution/index.ts'
import { type FailoverOptions, failoverControllers } from './failover/index.ts'
import { ALL_GATES_ON, type FleetGates } from './gates.ts'
import { type ClusterStatusOptions, createSaidSummaries, membershipControllers } from './membership/index.ts'
import { namespaceControllers } from './namespace/index.ts'
import { overridesOf } from './override/index.ts'
import { reflectionControllers } from './reflection/index.ts'
import { scheduler } from './scheduler/index.ts'
import type { FleetSurroundings } from './surroundings.ts'

/** What can be set about the fleet; everything has a default. */
export interface FleetOptions {
  clusterStatus?: Partial<ClusterStatusOptions>
  failover?: Partial<Omit<FailoverOptions, 'gates'>>
  /** Those that are not named are on. */
  gates?: Partial<FleetGates>
  /** What narrows placements beyond policies, or holds them. */
  narrowings?: readonly Narrowing[]
}

export interface FleetFacts extends FleetSurroundings {
  clock: Clock
  random: Random
}

export function fleetControllers(facts: FleetFacts, options: FleetOptions = {}): Controller[] {
  const gates = { ...ALL_GATES_ON, ...options.gates }
  const summaries = createSaidSummaries()
  const scheduling = {
    isSummaryCurrent: summaries.isCurrent,
    protectsFromOvercommit: gates.SchedulingOvercommitProtection,
    ranksByPriority: gates.PriorityBasedScheduling,
    measures: facts.measures,
  }
  return [
    ...membershipControllers({ ...facts, summaries }, options.clusterStatus),
    ...namespaceControllers({ applyOverrides: overridesOf }),
    ...detectorControllers({ ...facts, gates: detectorGates(gates), narrowings: options.narrowings }),
    scheduler(RESOURCE_BINDINGS, scheduling),
    scheduler(CLUSTER_RESOURCE_BINDINGS, scheduling),
    ...(gates.PropagateDeps ? dependenciesControllers(facts) : []),
    ...bindingControllers({ ...facts, takesState: gates.StatefulFailoverInjection }),
    ...executionControllers(facts),
    ...reflectionControllers(facts),
    ...failoverControllers(facts, { ...options.failover, gates }),
  ]
}

const detectorGates = (gates: FleetGates): DetectorGates => ({
  preemption: gates.PropagationPolicyPreemption,
  multiplePodTemplates: gates.MultiplePodTemplatesScheduling,
  quotaEstimate: gates.ResourceQuotaEstimate,
  workloadAffinity: gates.WorkloadAffinity,
})
