/**
 * Keeps as many pods of a template active as a ReplicaSet asks for. Sole writer of: its status, its pods' existence and
 * their owner references to it. Runs again when the ReplicaSet or one of its pods changes, when an orphan that it selects
 * appears, and when a ready pod becomes available. Pods go with it through garbage collection.
 */

import type { Client } from '../../../client/client.ts'
import { PODS, REPLICA_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod, ReplicaSet } from '../../../kinds/kubernetes/types.ts'
import { matchesLabels } from '../../../kube/selector.ts'
import { defineController, NOTHING_TO_DO, type PassReader, type Reader, via } from '../../../runtime/controller.ts'
import { isUnchanged } from '../../../runtime/live-owner.ts'
import {
  byController,
  bySelector,
  controlledBy,
  controllersOf,
  orphansIn,
  readSelector,
  type Selecting,
} from '../../../runtime/workloads/pod/indexes.ts'
import { claimObjects, controllerOf, mayAdopt, wouldAdopt } from '../../../runtime/workloads/pod/ownership.ts'
import { isPodActive, isPodTerminating } from '../../../runtime/workloads/pod/state.ts'
import { type Observed, plan } from './plan.ts'

const SELECTING: Selecting<ReplicaSet> = { resource: REPLICA_SETS, selectorOf: (set) => readSelector(set.spec?.selector) }

export const replicaSet = defineController<Observed | undefined, ReplicaSet>({
  name: 'minicluster.workloads.replica-set',
  component: 'replicaset-controller',
  for: REPLICA_SETS,
  watches: [via(PODS, (pod, read) => controllersOf(read, SELECTING, pod))],
  indexes: [byController(PODS), byController(REPLICA_SETS), bySelector(SELECTING)],
  writes: [
    { resource: PODS, verbs: ['create', 'delete', 'patch'] },
    { resource: REPLICA_SETS, subresource: 'status', verbs: ['patch'] },
  ],
  reads: [{ resource: REPLICA_SETS, verbs: ['get'] }],
  concurrency: 5,
  observe: async ({ namespace }, set, read, client) => observe(namespace, set, { read, client }),
  plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
})

async function observe(
  namespace: string,
  set: ReplicaSet | undefined,
  { read, client }: { read: PassReader; client: Client },
): Promise<Observed | undefined> {
  const selector = readSelector(set?.spec?.selector)
  const own = controlledBy(read, PODS, set?.metadata.uid)
  const base = {
    replicaSet: set,
    selector,
    nowMs: read.nowMs(),
    lastFailure: read.lastFailure(),
    isTaken: (name: string) => read.get(PODS, namespace, name) !== undefined,
  }
  if (set === undefined || selector === undefined)
    return { ...base, claim: { claimed: [], adopt: [], release: [] }, terminating: 0, related: [] }
  const orphans = { owner: set, selector, candidates: orphansIn(read, PODS, namespace).filter(isPodActive) }
  const adopts = wouldAdopt(orphans) && (await mayAdopt(client, REPLICA_SETS, set))
  const candidates = own.filter(isPodActive)
  const claim = claimObjects({ owner: set, selector, candidates: adopts ? [...candidates, ...orphans.candidates] : candidates })
  // After a restart with a stale cache, pods that were scaled away would be revived, or created a second time. The missing
  // event will arrive and enqueue the key: pods are counted in the status, so what happened to them shows there.
  if (claim.claimed.length !== (set.spec?.replicas ?? 1) && !(await isUnchanged(client, REPLICA_SETS, set))) return undefined
  return {
    ...base,
    claim,
    terminating: own.filter((pod) => isPodTerminating(pod) && matchesLabels(selector, pod.metadata.labels)).length,
    related: claim.claimed.length > (set.spec?.replicas ?? 1) ? podsOfSiblings(set, read) : [],
  }
}

/** Pods of all ReplicaSets that have the same controller as this one; none when it has no controller. */
function podsOfSiblings(set: ReplicaSet, read: Reader): Pod[] {
  const siblings = controlledBy(read, REPLICA_SETS, controllerOf(set)?.uid)
  return siblings.flatMap((sibling) => controlledBy(read, PODS, sibling.metadata.uid))
}
