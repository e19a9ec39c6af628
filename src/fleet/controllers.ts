/** The controllers of the fleet as one list, in the order in which an object passes through them. */
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from '../kinds/karmada/resources.ts'
import type { Controller } from '../runtime/controller.ts'
import type { Seams } from '../runtime/seams/seams.ts'
import { bindingControllers } from './binding/index.ts'
import { dependenciesControllers } from './dependencies/index.ts'
import { type DetectorGates, detectorControllers } from './detector/index.ts'
import { executionControllers } from './execution/index.ts'
import { failoverControllers } from './failover/index.ts'
import { ALL_GATES_ON, type FleetGates } from './gates.ts'
import { createReportedSummaries, membershipControllers } from './membership/index.ts'
import { namespaceControllers } from './namespace/index.ts'
import type { FleetOptions } from './options.ts'
import { overridesOf } from './override/index.ts'
import { reflectionControllers } from './reflection/index.ts'
import { scheduler } from './scheduler/index.ts'
import type { FleetServices } from './services.ts'

export function fleetControllers(
  services: Omit<FleetServices, 'ready' | 'observes' | 'evictions'> & Partial<Pick<FleetServices, 'evictions'>>,
  options: FleetOptions,
  { narrowings }: Pick<Seams, 'narrowings'>,
): Controller[] {
  const { clock, random, members, templates, interpreter, measures } = services
  const deps = { clock, random, members, templates, interpreter, measures }
  const gates = { ...ALL_GATES_ON, ...options.gates }
  const summaries = createReportedSummaries()
  const scheduling = {
    isSummaryCurrent: summaries.isCurrent,
    protectsFromOvercommit: gates.SchedulingOvercommitProtection,
    ranksByPriority: gates.PriorityBasedScheduling,
    measures,
  }
  return [
    ...membershipControllers({ ...deps, summaries }, options.clusterStatus),
    ...namespaceControllers({ applyOverrides: overridesOf }),
    ...detectorControllers({ ...deps, gates: detectorGates(gates), narrowings }),
    scheduler(RESOURCE_BINDINGS, scheduling),
    scheduler(CLUSTER_RESOURCE_BINDINGS, scheduling),
    ...(gates.PropagateDeps ? dependenciesControllers(deps) : []),
    ...bindingControllers({ ...deps, takesState: gates.StatefulFailoverInjection }),
    ...executionControllers(deps),
    ...reflectionControllers(deps),
    ...failoverControllers({ interpreter, evictions: services.evictions }, { ...options.failover, gates }),
  ]
}

const detectorGates = (gates: FleetGates): DetectorGates => ({
  preemption: gates.PropagationPolicyPreemption,
  multiplePodTemplates: gates.MultiplePodTemplatesScheduling,
  quotaEstimate: gates.ResourceQuotaEstimate,
  workloadAffinity: gates.WorkloadAffinity,
})
