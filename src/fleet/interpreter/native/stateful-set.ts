/**
 * apps/v1 StatefulSet. Its reflected status has no observedGeneration, which users' tools may rely on, so whether a member
 * has observed its newest spec is inferred: the field appears only while the member lags behind, and a status without any
 * counts is trusted only when the object is healthy.
 */
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import { type Fields, listAt, numberAt, textAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { DependentReference, KindRules } from '../interpreter.ts'
import { aggregateCounters, type Counters, hasObservedItself, OBSERVED, reflectCounters } from './counters.ts'
import { isRolledOut, statusNumber } from './health.ts'
import { type NativeOptions, reviseField, specReplicas, templateDependencies } from './replicas.ts'

const COUNTERS: Counters = {
  always: ['replicas', 'availableReplicas'],
  unlessZero: ['readyReplicas', 'currentReplicas', 'updatedReplicas'],
}

export const statefulSetRules = (options: NativeOptions): KindRules => ({
  replicas: (set) => specReplicas(set, options),
  revise: (set, replicas) => reviseField(set, 'replicas', replicas),
  aggregate: (template, items) => aggregateCounters(template, items, { counters: COUNTERS, hasSettled }),
  dependencies,
  reflect: (set) => reflectCounters(set, COUNTERS, laggingGeneration(set)),
  health: isRolledOut,
})

/** The generation that the member's controller has observed, if it is not the newest; else 0, which is not printed. */
function laggingGeneration(set: KubeObject): number {
  const observed = statusNumber(set, OBSERVED)
  return observed < (set.metadata.generation ?? 0) ? observed : 0
}

function hasSettled(status: Fields, item: AggregatedStatusItem): boolean {
  if (numberAt(status, OBSERVED) !== undefined) return hasObservedItself(status, item)
  const hasCounted = [...COUNTERS.always, ...COUNTERS.unlessZero].some((counter) => (numberAt(status, counter) ?? 0) > 0)
  return hasCounted || item.health === 'Healthy'
}

/** PersistentVolumeClaims made from the set's own templates are created in the member. */
function dependencies(set: KubeObject): DependentReference[] {
  const ownClaims = new Set(listAt(set, 'spec', 'volumeClaimTemplates').map((claim) => textAt(claim, 'metadata', 'name') ?? ''))
  return templateDependencies(set, { ownClaims })
}
