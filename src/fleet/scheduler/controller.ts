/**
 * Gives every binding its clusters, in the order of priority. One implementation for ResourceBindings and
 * ClusterResourceBindings. Sole writer of: spec.clusters (except for evictions, which remove a cluster from it), the
 * annotations applied-placement and sluice.dev/decision, the condition Scheduled, and the scheduler's fields of the status.
 * Reads: clusters. Runs again when the binding changes, and when a cluster changes in a way that can matter to it: bindings
 * that fit nowhere react to new clusters, labels, locations, taints and kinds; those that lack capacity also to capacity;
 * those that are the same everywhere to clusters their affinity matches; and all bindings to clusters they lose. Deletion:
 * nothing to undo.
 */

import { type Binding, type Cluster, ClusterResourceBinding } from '../../kinds/karmada/index.ts'
import { CLUSTERS } from '../../kinds/karmada/resources.ts'
import { BINDING_REASONS, DEFAULT_SCHEDULER, SCHEDULED } from '../../kinds/karmada/well-known.ts'
import { findCondition } from '../../kube/conditions.ts'
import { type ObjectRef, refOf } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { type Controller, defineController, indexOf, type Reader, via } from '../../runtime/controller.ts'
import type { ClusterChange } from './cluster-index.ts'
import type { ClusterInfo } from './cluster-info.ts'
import { mayUse } from './demand.ts'
import { type Observed, plan } from './plan.ts'
import { Scheduling, type SchedulingOptions } from './scheduling.ts'

const BY_TARGET = 'target'
const BY_API = 'api'
const BY_AFFINITY = 'affinity'
const WAITING = 'waiting'
const FOR_CLUSTERS = 'for clusters'
const FOR_CAPACITY = 'for room'
/** Decisions are made one by one; this many writes may be in progress. */
const CONCURRENCY = 16

export function scheduler(resource: Resource<Binding>, options: SchedulingOptions = {}): Controller {
  const { schedulerName = DEFAULT_SCHEDULER, measures } = options
  const name = resource.kind === ClusterResourceBinding.kind ? 'fleet.scheduler.cluster-scoped' : 'fleet.scheduler'
  const scheduling = new Scheduling({ ...options, schedulerName })
  const triggers = triggersOf(resource, scheduling)
  return defineController<Observed, Binding>({
    name,
    component: schedulerName,
    for: resource,
    watches: [
      via(CLUSTERS, ({ metadata: { name = '' } }, read) => {
        const change = scheduling.followCluster(name, read.get<Cluster>(CLUSTERS, '', name))
        return change === undefined ? [] : triggers.ofCluster(change, read)
      }),
      via(resource, (binding, read) => {
        const ref = refOf(binding)
        const roomier = scheduling.followBinding(ref, read.get(resource, ref.namespace, ref.name), read.nowMs())
        return roomier.length === 0 ? [] : triggers.ofCapacity(roomier, read)
      }),
    ],
    indexes: [
      indexOf(resource, BY_TARGET, ({ spec }) => (spec?.clusters ?? []).map(({ name }) => name)),
      indexOf(resource, BY_API, (binding) => scheduling.apisThatMatter(binding)),
      indexOf(resource, BY_AFFINITY, (binding) => scheduling.affinitiesThatMatter(binding)),
      indexOf(resource, WAITING, waitsFor),
    ],
    writes: [
      { resource, verbs: ['patch'] },
      { resource, subresource: 'status', verbs: ['patch'] },
    ],
    concurrency: CONCURRENCY,
    isRelevant: (binding) => scheduling.isRelevant(binding),
    rank:
      options.ranksByPriority === false
        ? undefined
        : ({ namespace, name }, read) => read.get(resource, namespace, name)?.spec?.schedulePriority?.priority ?? 0,
    observe(ref, binding, read) {
      const nowMs = read.nowMs()
      const look = scheduling.look(ref, binding, nowMs)
      if (look.verdict.do === 'decide' && binding !== undefined)
        measures?.decided({
          controller: name,
          key: `${ref.namespace}/${ref.name}`,
          type: scheduling.typeOf(binding),
          isSuccess: look.verdict.decision.reason === 'Success',
        })
      return { resource, binding, nowMs, failure: read.lastFailure(), ...look }
    },
    plan,
  })
}

/** Filters ignore capacity: more of it does not help a binding that fits nowhere. */
function waitsFor({ status }: Binding): string[] {
  const condition = findCondition(status?.conditions, SCHEDULED)
  if (condition?.status !== 'False') return []
  return [condition.reason === BINDING_REASONS.noClusterFit ? FOR_CLUSTERS : FOR_CAPACITY]
}

interface Triggers {
  ofCluster(change: ClusterChange, read: Reader): ObjectRef[]
  ofCapacity(clusters: readonly string[], read: Reader): ObjectRef[]
}

/**
 * Which bindings to enqueue, by look-ups in indexes. Those that fit nowhere: on everything that could change the reported
 * reasons; those that lack capacity: on changes of the clusters they could use.
 */
function triggersOf(resource: Resource<Binding>, scheduling: Scheduling): Triggers {
  const all = (index: string, values: readonly string[], read: Reader): ObjectRef[] =>
    values.flatMap((value) => read.byIndex(resource, index, value).map(refOf))
  const lackingCapacity = (clusters: readonly (ClusterInfo | undefined)[], read: Reader): ObjectRef[] =>
    read
      .byIndex(resource, WAITING, FOR_CAPACITY)
      .filter((binding) => {
        const demand = scheduling.demandOf(binding)
        return demand !== undefined && clusters.some((info) => info !== undefined && mayUse(demand, info))
      })
      .map(refOf)
  return {
    ofCluster({ before, after, isLost, isDifferent, servesOthers, gainedApis, hasMore }, read) {
      const name = after?.name ?? before?.name ?? ''
      const changesReasons = isLost || isDifferent || servesOthers
      return [
        ...(isLost ? all(BY_TARGET, [name], read) : []),
        ...(isDifferent ? all(BY_AFFINITY, scheduling.affinities.matching(before, after), read) : []),
        ...all(BY_API, gainedApis, read),
        ...(changesReasons ? all(WAITING, [FOR_CLUSTERS], read) : []),
        ...(changesReasons || hasMore ? lackingCapacity([before, after], read) : []),
      ]
    },
    ofCapacity: (clusters, read) =>
      lackingCapacity(
        clusters.map((name) => scheduling.clusters.get(name)),
        read,
      ),
  }
}
