/**
 * Brings the pods of a Deployment to its template, a few at a time, through ReplicaSets: one for each template it has had.
 * Sole writer of: its status and revision annotation; existence, size, annotations and owner references of its ReplicaSets.
 * Runs again when it or one of its ReplicaSets changes, when a pod of a Recreate Deployment changes, and when a rollout's
 * deadline passes. ReplicaSets go with it through garbage collection.
 */
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { Deployment, Pod, ReplicaSet } from '../../../kinds/kubernetes/types.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { defineController, type Reader, via } from '../../../runtime/controller.ts'
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
import { type Observed, plan } from './plan.ts'

const SELECTING: Selecting<Deployment> = { resource: DEPLOYMENTS, selectorOf: (one) => readSelector(one.spec?.selector) }

export const deployment = defineController<Observed, Deployment>({
  name: 'minicluster.workloads.deployment',
  component: 'deployment-controller',
  for: DEPLOYMENTS,
  watches: [
    via(REPLICA_SETS, (set, read) => [...controllersOf(read, SELECTING, set), ...namesake(set)]),
    via(PODS, (pod, read) => recreatedWith(pod, read)),
  ],
  indexes: [byController(REPLICA_SETS), byController(PODS), bySelector(SELECTING)],
  writes: [
    { resource: REPLICA_SETS, verbs: ['create', 'patch', 'delete'] },
    { resource: DEPLOYMENTS, subresource: 'status', verbs: ['patch'] },
  ],
  reads: [{ resource: DEPLOYMENTS, verbs: ['get'] }],
  concurrency: 5,
  async observe({ namespace }, one, read, client) {
    const base = {
      deployment: one,
      selector: readSelector(one?.spec?.selector),
      nowMs: read.nowMs(),
      lastFailure: read.lastFailure(),
      setNamed: (name: string) => read.get(REPLICA_SETS, namespace, name),
      podsOf: (set: ReplicaSet) => controlledBy(read, PODS, set.metadata.uid),
    }
    if (one === undefined) return { ...base, claim: { claimed: [], adopt: [], release: [] } }
    const candidates = [...controlledBy(read, REPLICA_SETS, one.metadata.uid), ...orphansIn(read, REPLICA_SETS, namespace)]
    const input = { owner: one, selector: base.selector, candidates }
    return { ...base, claim: claimObjects({ ...input, mayAdopt: wouldAdopt(input) && (await mayAdopt(client, DEPLOYMENTS, one)) }) }
  },
  plan,
})

/** Whoever owns it: a ReplicaSet named `web-…` may block the one that Deployment `web` wants to create. */
function namesake({ metadata: { namespace = '', name = '' } }: ReplicaSet): ObjectRef[] {
  const dash = name.lastIndexOf('-')
  return dash < 1 ? [] : [{ namespace, name: name.slice(0, dash) }]
}

/** The Deployment of a pod, if it waits for pods to end. */
function recreatedWith(pod: Pod, read: Reader): ObjectRef[] {
  const { namespace = '' } = pod.metadata
  const bySet = controllerOf(pod)
  if (bySet?.kind !== REPLICA_SETS.kind) return []
  const set = read.get(REPLICA_SETS, namespace, bySet.name)
  const byDeployment = set?.metadata.uid === bySet.uid && set !== undefined ? controllerOf(set) : undefined
  if (byDeployment?.kind !== DEPLOYMENTS.kind) return []
  const owner = read.get(DEPLOYMENTS, namespace, byDeployment.name)
  const waits = owner?.metadata.uid === byDeployment.uid && owner?.spec?.strategy?.type === 'Recreate'
  return waits ? [{ namespace, name: byDeployment.name }] : []
}
