/**
 * Assigns every pod to a node, as kube-scheduler does, in order of priority. Sole writer of: a pod's binding, its
 * condition PodScheduled while it has none, its nominated node, the condition DisruptionTarget of preempted pods,
 * the selected node of claims that wait for their first consumer, and the claimRef of volumes matched to them.
 * Reads: nodes, pods, claims, volumes, classes, namespaces, services and owners (to spread by), budgets. Runs again when
 * a pod appears, when a claim of a pod changes, and when something changes that may help a waiting pod.
 * Deletion: nothing to undo. State: 2 KiB per node, 1 KiB per pod on a node, 2 KiB per kind of waiting pod.
 */
import {
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  POD_DISRUPTION_BUDGETS,
  PODS,
  REPLICA_SETS,
  SERVICES,
  STATEFUL_SETS,
  STORAGE_CLASSES,
} from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { keyOfRef, objectKey, refOf } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { type Controller, defineController, indexOf, type Reader, via, type Watch } from '../../runtime/controller.ts'
import { BY_CLASS, BY_SELECTED, lookupsOf, selectedKeys } from './lookups.ts'
import { type Observed, plan } from './plan.ts'
import { isToBePlaced, SCHEDULER_NAME, Scheduling, type SchedulingView } from './scheduling.ts'
import { podInfo } from './state/pod-info.ts'
import { classOf } from './volumes/claims.ts'

const BY_CLAIM = 'claim'
/** Decisions are made one by one; this many bindings may be in flight. */
const CONCURRENCY = 16

export function scheduler(): Controller {
  const scheduling = new Scheduling()
  return defineController<Observed, Pod>({
    name: 'minicluster.scheduler',
    component: SCHEDULER_NAME,
    for: PODS,
    watches: watchesOf(scheduling),
    signals: [scheduling.signal],
    indexes: [
      indexOf(PODS, BY_CLAIM, (pod) =>
        isToBePlaced(pod) ? podInfo(pod).claims.map(({ name }) => objectKey(pod.metadata.namespace, name)) : [],
      ),
      indexOf(PERSISTENT_VOLUMES, BY_CLASS, (volume) => [classOf(volume)]),
      indexOf(SERVICES, BY_SELECTED, selectedKeys),
    ],
    writes: [
      { resource: PODS, subresource: 'binding', verbs: ['create'] },
      { resource: PODS, subresource: 'status', verbs: ['patch'] },
      { resource: PODS, verbs: ['delete'] },
      { resource: PERSISTENT_VOLUMES, verbs: ['patch'] },
      { resource: PERSISTENT_VOLUME_CLAIMS, verbs: ['patch'] },
    ],
    concurrency: CONCURRENCY,
    rank: ({ namespace, name }, read) => read.get(PODS, namespace, name)?.spec?.priority ?? 0,
    observe(ref, pod, read) {
      const view = viewOf(read)
      const outcome = scheduling.look(ref, pod, view)
      // Victims are patched as the cache has them now, not as they were when they were placed.
      const victims =
        outcome.kind === 'preempt'
          ? outcome.victims.map((victim) => read.get(PODS, victim.metadata.namespace ?? '', victim.metadata.name ?? '') ?? victim)
          : []
      return { outcome: outcome.kind === 'preempt' ? { ...outcome, victims } : outcome, nowMs: view.nowMs }
    },
    plan,
  })
}

const viewOf = (read: Reader): SchedulingView => ({ objects: lookupsOf(read), nowMs: read.nowMs() })

/** Each passes the object's current state in the cache to the scheduler, whatever the event was, and enqueues pods. */
function watchesOf(scheduling: Scheduling): Watch[] {
  const other = (resource: Resource, kind: Parameters<Scheduling['followOther']>[0]): Watch =>
    via(resource, (object, read) => {
      const ref = refOf(object)
      scheduling.followOther(kind, ref, read.get(resource, ref.namespace, ref.name), viewOf(read))
      return kind === 'claim' ? read.byIndex(PODS, BY_CLAIM, keyOfRef(ref)).map(refOf) : []
    })
  const silent = (resource: Resource): Watch => via(resource, () => [])
  return [
    via(NODES, (node, read) => {
      const name = node.metadata.name ?? ''
      scheduling.followNode(name, read.get(NODES, '', name), viewOf(read))
      return []
    }),
    via(PODS, (pod, read) => {
      const ref = refOf(pod)
      const now = read.get(PODS, ref.namespace, ref.name)
      scheduling.followPod(ref, now, viewOf(read))
      // Pods that existed at the start are queued the same way: all pods compete by priority alone.
      return now !== undefined && isToBePlaced(now) ? [ref] : []
    }),
    other(PERSISTENT_VOLUME_CLAIMS, 'claim'),
    other(PERSISTENT_VOLUMES, 'volume'),
    other(STORAGE_CLASSES, 'storage-class'),
    other(NAMESPACES, 'namespace'),
    ...[POD_DISRUPTION_BUDGETS, SERVICES, REPLICA_SETS, STATEFUL_SETS].map(silent),
  ]
}
