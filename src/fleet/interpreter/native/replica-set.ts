/** apps/v1 ReplicaSet. */
import { numberAt } from '../../../kube/fields.ts'
import type { KindRules } from '../interpreter.ts'
import { aggregateCounters, type Counters, OBSERVED, reflectCounters } from './counters.ts'
import { hasObservedSpec, statusNumber } from './health.ts'
import { type NativeOptions, reviseField, specReplicas, templateDependencies } from './replicas.ts'

const COUNTERS: Counters = { always: ['replicas'], unlessZero: ['readyReplicas', 'availableReplicas'] }

export const replicaSetRules = (options: NativeOptions): KindRules => ({
  replicas: (set) => specReplicas(set, options),
  revise: (set, replicas) => reviseField(set, 'replicas', replicas),
  aggregate: (template, items) => aggregateCounters(template, items, { counters: COUNTERS }),
  dependencies: (set) => templateDependencies(set),
  reflect: (set) => reflectCounters(set, COUNTERS, statusNumber(set, OBSERVED)),
  health: (set) => hasObservedSpec(set) && statusNumber(set, 'availableReplicas') >= (numberAt(set, 'spec', 'replicas') ?? 0),
})
