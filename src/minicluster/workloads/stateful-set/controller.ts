/**
 * Keeps the pods of every StatefulSet: each with its ordinal, name and claims, in order. Sole writer of: the
 * set's status, its pods and claims as objects (their status is others'), its ControllerRevisions. Runs again when the set,
 * one of its pods, claims or revisions changes, and when a pod has been ready for long enough. Deletion: pods and
 * revisions go by their owner reference, claims by the retention policy.
 */

import { STATEFUL_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { StatefulSet } from '../../../kinds/kubernetes/types.ts'
import { defineController, NOTHING_TO_DO } from '../../../runtime/controller.ts'
import { readSelector, type Selecting } from '../../../runtime/workloads/pod/indexes.ts'
import { indexesOf, observeSet, watchesOf, writesOf } from '../../../runtime/workloads/stateful-set/observe.ts'
import { type Observed, plan } from './plan.ts'

const SETS: Selecting<StatefulSet> = { resource: STATEFUL_SETS, selectorOf: (set) => readSelector(set.spec?.selector) }

export const statefulSet = defineController<Observed | undefined, StatefulSet>({
  name: 'minicluster.workloads.stateful-set',
  component: 'statefulset-controller',
  for: STATEFUL_SETS,
  watches: watchesOf(SETS),
  indexes: indexesOf(SETS),
  writes: writesOf(SETS),
  reads: [{ resource: STATEFUL_SETS, verbs: ['get'] }],
  concurrency: 4,
  observe: (_key, set, read, client) => (set === undefined ? undefined : observeSet(SETS, set, { read, client })),
  plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
})
