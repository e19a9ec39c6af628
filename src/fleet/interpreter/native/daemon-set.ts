/** apps/v1 DaemonSet. It has no replicas: every node of a cluster gets its pod. */
import type { KubeObject } from '../../../kube/meta.ts'
import type { KindRules } from '../interpreter.ts'
import { aggregateCounters, type Counters, OBSERVED, reflectCounters } from './counters.ts'
import { hasObservedSpec, statusNumber } from './health.ts'
import { templateDependencies } from './replicas.ts'

const COUNTERS: Counters = {
  always: ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'],
  unlessZero: ['updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'],
}

export const daemonSetRules: KindRules = {
  aggregate: (template, items) => aggregateCounters(template, items, { counters: COUNTERS }),
  dependencies: (set) => templateDependencies(set),
  reflect: (set) => reflectCounters(set, COUNTERS, statusNumber(set, OBSERVED)),
  health: isHealthy,
}

function isHealthy(set: KubeObject): boolean {
  const updated = statusNumber(set, 'updatedNumberScheduled')
  return hasObservedSpec(set) && updated >= statusNumber(set, 'desiredNumberScheduled') && statusNumber(set, 'numberAvailable') >= updated
}
