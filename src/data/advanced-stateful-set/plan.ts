/**
 * What an AdvancedStatefulSet does next: its history first, then its status, then a step with its pods: those that are
 * missing or not wanted, then those that somebody asked to be made again, then the update.
 */
import { isJsonObject } from '../../base/json.ts'
import { AdvancedStatefulSet } from '../../kinds/fluid/advanced-stateful-set.ts'
import { CONTROLLER_REVISIONS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { ControllerRevision, Pod } from '../../kinds/kubernetes/types.ts'
import { type Action, type Batch, type EventIntent, type KeyedEvent, NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { claimActions } from '../../runtime/workloads/pod/ownership.ts'
import { isPodAvailable, nextPodAvailableInMs } from '../../runtime/workloads/pod/state.ts'
import { renumber } from '../../runtime/workloads/revision/history.ts'
import { ordinalOf, revisionOf, type Version } from '../../runtime/workloads/stateful-set/identity.ts'
import type { ObservedSet } from '../../runtime/workloads/stateful-set/observe.ts'
import { ordinalsOf } from '../../runtime/workloads/stateful-set/ordinals.ts'
import {
  currentRevisionOf,
  historyOf,
  truncateHistory,
  updateRevisionOf,
  versionOf,
} from '../../runtime/workloads/stateful-set/revisions.ts'
import { scale } from '../../runtime/workloads/stateful-set/steps.ts'
import { isUpdating } from './in-place.ts'
import { isStatusCurrent, NO_REPLICAS, statusOf } from './status.ts'
import { type Strategy, strategyOf } from './strategy.ts'
import { SPECIFIED_DELETE, updateSteps } from './update.ts'

export type Observed = ObservedSet<AdvancedStatefulSet>

const SETS = AdvancedStatefulSet.resource

export function plan(observed: Observed): Plan {
  const { set, pods, revisions, nowMs } = observed
  const claimed = [
    ...claimActions({ resource: CONTROLLER_REVISIONS, owner: set, claim: { adopt: revisions.adopt, release: [] } }),
    ...claimActions({ resource: PODS, owner: set, claim: pods }),
  ]
  const isGoing = set.metadata.deletionTimestamp !== undefined
  const history = historyOf(observed)
  const { revision: update, exists, collisions = 0 } = updateRevisionOf(observed, history)
  // Pods are labelled with a revision only once it certainly exists; its appearance enqueues the key.
  if (!exists && isGoing) return NOTHING_TO_DO
  if (!exists)
    return { actions: [...claimed, ...counted(set, collisions), { do: 'create', resource: CONTROLLER_REVISIONS, object: update }] }
  const current = currentRevisionOf(observed, update)
  const strategy = strategyOf(set)
  const isAvailable = (pod: Pod): boolean => isPodAvailable(pod, strategy.minReadySeconds, nowMs) && !isUpdating(pod)
  const steps = isGoing ? NO_STEPS : stepsOf(observed, { strategy, isAvailable, current, update })
  const currentRevision = current.metadata.name ?? ''
  const leaving = steps.leaving.filter((pod) => revisionOf(pod) === currentRevision).length
  const status = statusOf({
    ...{ set, pods: pods.claimed, leaving, isAvailable, currentRevision, collisionCount: collisions },
    updateRevision: update.metadata.name ?? '',
  })
  const written: Action[] = isStatusCurrent(set.status, status) ? [] : [statusWrite(set, status, eventsOf(set, steps))]
  // A set that is being deleted only gets its status.
  if (isGoing) return { actions: written }
  const truncated = truncateHistory({ set, pods, history, used: [current, update] })
  return {
    // The status is written first: a rejected creation must not keep it from being current.
    actions: [...claimed, ...renumber(history), ...written, ...truncated, ...steps.actions],
    events: steps.events,
    requeueAfterMs: nextPodAvailableInMs(pods.claimed, strategy.minReadySeconds, nowMs),
  }
}

const statusWrite = (of: AdvancedStatefulSet, status: object, events?: readonly EventIntent[]): Action => ({
  ...{ do: 'patch', resource: SETS, of, patch: { status }, subresource: 'status', events },
})

/** With the write that shows that a change of the set was seen: once, and not again after a restart. */
const eventsOf = ({ metadata, status }: AdvancedStatefulSet, { updateEvents }: Steps): readonly EventIntent[] | undefined =>
  status?.observedGeneration === metadata.generation ? undefined : updateEvents

/** Name collisions of revisions are recorded as a count. */
const counted = (set: AdvancedStatefulSet, collisionCount: number): Action[] =>
  collisionCount === (set.status?.collisionCount ?? 0) ? [] : [statusWrite(set, { ...NO_REPLICAS, ...set.status, collisionCount })]

interface Steps {
  actions: (Action | Batch)[]
  events: KeyedEvent[]
  /** Events that stay true. */
  updateEvents: readonly EventIntent[]
  leaving: readonly Pod[]
}

const NO_STEPS: Steps = Object.freeze({ actions: [], events: [], updateEvents: [], leaving: [] })

interface StepInput {
  strategy: Strategy
  isAvailable(pod: Pod): boolean
  current: ControllerRevision
  update: ControllerRevision
}

function stepsOf({ set, pods, revisions, claimNamed }: Observed, input: StepInput): Steps {
  const { strategy, isAvailable } = input
  const [current, update] = [unmarked(versionOf(input.current)), unmarked(versionOf(input.update))]
  const isAtCurrent = atCurrentOf(set, { strategy, pods: pods.claimed, update })
  const versionFor = (ordinal: number): Version => (isAtCurrent(ordinal) ? current : update)
  const maxUnavailable = strategy.scaleMaxUnavailable
  const scaled = scale({ set, pods: pods.claimed, claimNamed, versionFor, isAvailable, maxUnavailable })
  const versionNamed = (name: string): Version | undefined => {
    const revision = [input.current, input.update, ...revisions.claimed].find(({ metadata }) => metadata.name === name)
    return revision === undefined ? undefined : unmarked(versionOf(revision))
  }
  const updated = updateSteps({ set, strategy, scaled, update, versionNamed, isAvailable })
  return { actions: [...scaled.actions, ...updated.actions], events: scaled.events, updateEvents: updated.events, leaving: updated.leaving }
}

/** Pods that were deleted as soon as they exist would be made forever: a template cannot ask for that. */
function unmarked({ name, template }: Version): Version {
  const labels = template?.metadata?.labels
  if (!isJsonObject(labels) || !Object.hasOwn(labels, SPECIFIED_DELETE)) return { name, template }
  const { [SPECIFIED_DELETE]: _mark, ...rest } = labels
  return { name, template: { ...template, metadata: { ...template?.metadata, labels: rest } } }
}

/** Whether the pod with an ordinal is created from the current revision, because the update has not come to it. */
function atCurrentOf(
  set: AdvancedStatefulSet,
  { strategy, pods, update }: { strategy: Strategy; pods: readonly Pod[]; update: Version },
): (ordinal: number) => boolean {
  const { isOnDelete, partition, unordered } = strategy
  const ordinals = ordinalsOf(set)
  if (isOnDelete) return () => false
  if (partition === undefined) return (ordinal) => ordinals.indexOf(ordinal) < (set.status?.currentReplicas ?? 0)
  if (unordered === undefined) return (ordinal) => ordinals.indexOf(ordinal) < partition
  const old = pods.filter((pod) => ordinals.has(ordinalOf(pod)) && revisionOf(pod) !== update.name).length
  return () => old < partition
}
