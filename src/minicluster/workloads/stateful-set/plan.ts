/**
 * What a StatefulSet does next: its history first, then its status, then a step with its pods. Everything is based on
 * the observed state, never on what was done before.
 */
import { CONTROLLER_REVISIONS, PODS, STATEFUL_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { StatefulSet } from '../../../kinds/kubernetes/types.ts'
import { type Action, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { claimActions } from '../../../runtime/workloads/pod/ownership.ts'
import { nextPodAvailableInMs } from '../../../runtime/workloads/pod/state.ts'
import { renumber } from '../../../runtime/workloads/revision/history.ts'
import type { ObservedSet } from '../../../runtime/workloads/stateful-set/observe.ts'
import {
  currentRevisionOf,
  historyOf,
  truncateHistory,
  updateRevisionOf,
  versionOf,
} from '../../../runtime/workloads/stateful-set/revisions.ts'
import { isStatusCurrent, statusOf } from './status.ts'
import { NO_STEPS, nextSteps } from './steps.ts'

export type Observed = ObservedSet<StatefulSet>

export function plan(observed: Observed): Plan {
  const { set, pods, revisions, claimNamed, nowMs } = observed
  const claimed = [
    ...claimActions({ resource: CONTROLLER_REVISIONS, owner: set, claim: { adopt: revisions.adopt, release: [] } }),
    ...claimActions({ resource: PODS, owner: set, claim: pods }),
  ]
  const isGoing = set.metadata.deletionTimestamp !== undefined
  const history = historyOf(observed)
  const { revision: update, exists, collisions } = updateRevisionOf(observed, history)
  // Pods are labelled with a revision only once it certainly exists; its appearance enqueues the key.
  if (!exists && isGoing) return NOTHING_TO_DO
  if (!exists)
    return { actions: [...claimed, ...counted(set, collisions ?? 0), { do: 'create', resource: CONTROLLER_REVISIONS, object: update }] }
  const current = currentRevisionOf(observed, update)
  const steps = isGoing
    ? NO_STEPS
    : nextSteps({ set, pods: pods.claimed, claimNamed, current: versionOf(current), update: versionOf(update), nowMs })
  const status = statusOf({
    ...{ set, pods: pods.claimed, nowMs, leaving: steps.leaving, collisionCount: collisions ?? 0 },
    ...{ currentRevision: current.metadata.name ?? '', updateRevision: update.metadata.name ?? '' },
  })
  const written: Action[] = isStatusCurrent(set.status, status)
    ? []
    : [{ do: 'patch', resource: STATEFUL_SETS, of: set, patch: { status }, subresource: 'status' }]
  // A set that is being deleted only gets its status.
  if (isGoing) return { actions: written }
  const truncated = truncateHistory({ set, pods, history, used: [current, update] })
  return {
    // The status is written first: a rejected creation must not keep it from being current.
    actions: [...claimed, ...renumber(history), ...written, ...truncated, ...steps.actions],
    events: steps.events,
    requeueAfterMs: nextPodAvailableInMs(pods.claimed, set.spec?.minReadySeconds ?? 0, nowMs),
  }
}

/** Name collisions of revisions are recorded as a count. */
function counted(set: StatefulSet, collisionCount: number): Action[] {
  if (collisionCount === (set.status?.collisionCount ?? 0)) return []
  return [{ do: 'patch', resource: STATEFUL_SETS, of: set, patch: { status: { collisionCount } }, subresource: 'status' }]
}
