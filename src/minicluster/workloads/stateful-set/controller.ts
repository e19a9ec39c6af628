/**
 * Keeps the pods of every StatefulSet: each with its ordinal, name and claims, in order. Sole writer of: the
 * set's status, its pods and claims as objects (their status is others'), its ControllerRevisions. Runs again when the set,
 * one of its pods, claims or revisions changes, and when a pod has been ready for long enough. Deletion: pods and
 * revisions go by their owner reference, claims by the retention policy.
 */

import type { Client } from '../../../client/client.ts'
import { CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../kinds/kubernetes/types.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { defineController, indexOf, NOTHING_TO_DO, type Reader, via } from '../../../runtime/controller.ts'
import { isFresh } from '../../../runtime/live-owner.ts'
import { byController, bySelector, controlledBy, controllersOf, orphansIn, readSelector, type Selecting } from '../pod/indexes.ts'
import { type ClaimInput, claimObjects, mayAdopt, wouldAdopt } from '../pod/ownership.ts'
import { changesHistory, dataOf, ownerNameIn, readHistory } from '../revision/history.ts'
import { claimPrefixesOf, isInRange, isMember, ordinalOf, parsePodName, replicasOf } from './identity.ts'
import { type Observed, plan } from './plan.ts'

const SETS: Selecting<StatefulSet> = { resource: STATEFUL_SETS, selectorOf: (set) => readSelector(set.spec?.selector) }
const CLAIM_PREFIX = 'claim-prefix'

export const statefulSet = defineController<Observed | undefined, StatefulSet>({
  name: 'minicluster.workloads.stateful-set',
  component: 'statefulset-controller',
  for: STATEFUL_SETS,
  watches: [
    // By owner, by selector, and by name: an object of another owner may hold the name a pod or revision needs.
    via(PODS, (pod, read) => [
      ...controllersOf(read, SETS, pod),
      ...named(pod.metadata.namespace, parsePodName(pod.metadata.name)?.parent),
    ]),
    via(CONTROLLER_REVISIONS, (revision, read) => [
      ...controllersOf(read, SETS, revision),
      ...named(revision.metadata.namespace, ownerNameIn(revision)),
    ]),
    via(PERSISTENT_VOLUME_CLAIMS, setsOfClaim),
  ],
  indexes: [
    byController(PODS),
    byController(CONTROLLER_REVISIONS),
    bySelector(SETS),
    indexOf(STATEFUL_SETS, CLAIM_PREFIX, (set) => claimPrefixesOf(set).map((prefix) => `${set.metadata.namespace ?? ''}/${prefix}`)),
  ],
  writes: [
    { resource: STATEFUL_SETS, subresource: 'status', verbs: ['patch'] },
    { resource: PODS, verbs: ['create', 'update', 'patch', 'delete'] },
    { resource: PERSISTENT_VOLUME_CLAIMS, verbs: ['create', 'patch'] },
    { resource: CONTROLLER_REVISIONS, verbs: ['create', 'patch', 'delete'] },
  ],
  reads: [{ resource: STATEFUL_SETS, verbs: ['get'] }],
  concurrency: 4,
  observe: (_key, set, read, client) => (set === undefined ? undefined : observe(set, read, client)),
  plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
})

const named = (namespace = '', name: string | undefined): ObjectRef[] => (name === undefined ? [] : [{ namespace, name }])

/** `www-web-3`: the sets with claims `www-web-…`. */
function setsOfClaim(claim: PersistentVolumeClaim, read: Reader): ObjectRef[] {
  const { namespace = '', name } = claim.metadata
  const prefix = parsePodName(name)?.parent
  if (prefix === undefined) return []
  return read.byIndex(STATEFUL_SETS, CLAIM_PREFIX, `${namespace}/${prefix}`).map((set) => ({ namespace, name: set.metadata.name ?? '' }))
}

async function observe(set: StatefulSet, read: Reader, client: Client): Promise<Observed | undefined> {
  const { namespace = '', uid } = set.metadata
  const selector = SETS.selectorOf(set)
  if (selector === undefined) return undefined
  const pods: ClaimInput<Pod> = { owner: set, selector, candidates: podsOf(read, set), also: (pod) => isMember(set, pod) }
  const candidates = [...controlledBy(read, CONTROLLER_REVISIONS, uid), ...orphansIn(read, CONTROLLER_REVISIONS, namespace)]
  const revisions = { owner: set, selector, candidates }
  const adopts = wouldAdopt(pods) || wouldAdopt(revisions)
  const isAllowed = !adopts || (await mayAdopt(client, STATEFUL_SETS, set))
  const claim = claimObjects({ ...pods, mayAdopt: isAllowed })
  const history = claimObjects({ ...revisions, mayAdopt: isAllowed })
  const isGrave = changesHistory(readHistory(history.claimed, dataOf(set.spec?.template))) || touchesData(set, claim.claimed)
  // The event that the cache lacks will arrive, and enqueues the key.
  if (isGrave && !(await isFresh(client, STATEFUL_SETS, set))) return undefined
  return {
    set,
    pods: claim,
    revisions: history,
    revisionNamed: (name) => read.get(CONTROLLER_REVISIONS, namespace, name),
    claimNamed: (name) => read.get(PERSISTENT_VOLUME_CLAIMS, namespace, name),
    nowMs: read.nowMs(),
  }
}

/** Whether pods are to be scaled away, or claims created that nothing would clean up: never based on a stale cache. */
function touchesData(set: StatefulSet, pods: readonly Pod[]): boolean {
  const inRange = pods.filter((pod) => isInRange(set, ordinalOf(pod))).length
  return inRange < pods.length || (inRange < replicasOf(set) && claimPrefixesOf(set).length > 0)
}

const podsOf = (read: Reader, set: StatefulSet): Pod[] => [
  ...controlledBy(read, PODS, set.metadata.uid),
  ...orphansIn(read, PODS, set.metadata.namespace ?? ''),
]
