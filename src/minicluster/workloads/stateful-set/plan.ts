/**
 * What a StatefulSet does next: its history first, then its status, then a step with its pods. Everything is based on
 * the observed state, never on what was done before.
 */
import { CONTROLLER_REVISIONS, PODS, STATEFUL_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '../../../kinds/kubernetes/types.ts'
import { type Action, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { type Claim, claimActions } from '../pod/ownership.ts'
import { nextPodAvailableInMs } from '../pod/state.ts'
import { dataHash } from '../revision/hash.ts'
import { dataOf, type Found, type History, newRevision, readHistory, renumber, templateIn, truncate } from '../revision/history.ts'
import { revisionOf, type Version } from './identity.ts'
import { isStatusCurrent, statusOf } from './status.ts'
import { NO_STEPS, nextSteps } from './steps.ts'

export interface Observed {
  set: StatefulSet
  pods: Claim<Pod>
  revisions: Claim<ControllerRevision>
  /** The revision of that name in the set's namespace, whoever owns it. */
  revisionNamed(name: string): ControllerRevision | undefined
  claimNamed(name: string): PersistentVolumeClaim | undefined
  nowMs: number
}

const HASH_LABEL = 'controller.kubernetes.io/hash'
const HISTORY_LIMIT = 10

export function plan(observed: Observed): Plan {
  const { set, pods, revisions, claimNamed, nowMs } = observed
  const claimed = [
    ...claimActions({ resource: CONTROLLER_REVISIONS, owner: set, claim: { adopt: revisions.adopt, release: [] } }),
    ...claimActions({ resource: PODS, owner: set, claim: pods }),
  ]
  const isGoing = set.metadata.deletionTimestamp !== undefined
  const history = readHistory(revisions.claimed, dataOf(set.spec?.template))
  const { revision: update, exists, collisions } = updateRevisionOf(observed, history)
  // Pods are labelled with a revision only once it certainly exists; its appearance enqueues the key.
  if (!exists && isGoing) return NOTHING_TO_DO
  if (!exists)
    return { actions: [...claimed, ...counted(set, collisions ?? 0), { do: 'create', resource: CONTROLLER_REVISIONS, object: update }] }
  const current = revisions.claimed.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update
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
  const live = new Set([current.metadata.name, update.metadata.name, ...pods.claimed.map(revisionOf)])
  const isLive = ({ metadata }: ControllerRevision): boolean => live.has(metadata.name)
  const excess = history.all.filter((one) => !isLive(one)).length - (set.spec?.revisionHistoryLimit ?? HISTORY_LIMIT)
  return {
    // The status is written first: a rejected creation must not keep it from being current.
    actions: [...claimed, ...renumber(history), ...written, ...truncate(history.all, excess, isLive), ...steps.actions],
    events: steps.events,
    requeueAfterMs: nextPodAvailableInMs(pods.claimed, set.spec?.minReadySeconds ?? 0, nowMs),
  }
}

function updateRevisionOf({ set, revisionNamed }: Observed, history: History): Found {
  const collisions = set.status?.collisionCount ?? 0
  if (history.current !== undefined) return { revision: history.current, exists: true, collisions }
  const template = set.spec?.template
  const data = dataOf(template)
  return newRevision({
    ...{ owner: set, template, data, number: history.number, hashLabel: HASH_LABEL, collisions },
    hashOf: (count) => dataHash(data, count ?? 0),
    lookUp: revisionNamed,
  })
}

/** Name collisions of revisions are recorded as a count. */
function counted(set: StatefulSet, collisionCount: number): Action[] {
  if (collisionCount === (set.status?.collisionCount ?? 0)) return []
  return [{ do: 'patch', resource: STATEFUL_SETS, of: set, patch: { status: { collisionCount } }, subresource: 'status' }]
}

const versionOf = (revision: ControllerRevision): Version => ({ name: revision.metadata.name ?? '', template: templateIn(revision) })
