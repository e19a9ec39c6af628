/**
 * Keeps the pods of every AdvancedStatefulSet: `replicas` pods with the smallest ordinals that are not reserved, so that one
 * write of `replicas` and `reserveOrdinals` chooses which pods go. Sole writer of: the set's status, its pods and claims as
 * objects (their status is others'), its ControllerRevisions. Runs again when the set, one of its pods, claims or revisions
 * changes, and when a pod has been ready for long enough. Deletion: pods and revisions go by their owner reference, claims by
 * the retention policy. Fields without effect: `lifecycle`, `volumeClaimUpdateStrategy`, and the grace period of
 * `inPlaceUpdateStrategy`, because pods get no readiness gate: a pod counts as unavailable until its containers were replaced.
 */
import { AdvancedStatefulSet } from '../../kinds/fluid/advanced-stateful-set.ts'
import { defineController, NOTHING_TO_DO } from '../../runtime/controller.ts'
import { readSelector, type Selecting } from '../../runtime/workloads/pod/indexes.ts'
import { indexesOf, observeSet, watchesOf, writesOf } from '../../runtime/workloads/stateful-set/observe.ts'
import { type Observed, plan } from './plan.ts'

const SETS: Selecting<AdvancedStatefulSet> = {
  resource: AdvancedStatefulSet.resource,
  selectorOf: (set) => readSelector(set.spec?.selector),
}

export const advancedStatefulSet = defineController<Observed | undefined, AdvancedStatefulSet>({
  name: 'data.advanced-stateful-set',
  for: SETS.resource,
  watches: watchesOf(SETS),
  indexes: indexesOf(SETS),
  writes: writesOf(SETS),
  reads: [{ resource: SETS.resource, verbs: ['get'] }],
  concurrency: 4,
  observe: (_key, set, read, client) => (set === undefined ? undefined : observeSet(SETS, set, { read, client, isEveryPodGrave: true })),
  plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
})
