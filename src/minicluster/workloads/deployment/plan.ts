/**
 * One step of a Deployment towards its template and its number of pods: a ReplicaSet created, sizes changed, history
 * truncated, and its status. Each pass takes the next safe step; events of the ReplicaSets cause the one after. Pure.
 */
import { DEPLOYMENTS, REPLICA_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { Deployment, DeploymentStatus, Pod, ReplicaSet } from '../../../kinds/kubernetes/types.ts'
import type { LabelSelector } from '../../../kube/selector.ts'
import { type Action, type Failure, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { type Claim, claimActions } from '../../../runtime/workloads/pod/ownership.ts'
import { isPodTerminal } from '../../../runtime/workloads/pod/state.ts'
import { statusPatch } from '../../../runtime/workloads/pod/status-patch.ts'
import { annotationOf, nextRevision, REVISION, revisionOf, sized, sizeOf } from './annotations.ts'
import { type NewSet, newSet, setActions } from './replica-sets.ts'
import { type Goal, goalOf, isScaled, newestSize, type Step, stepsDown, stepsToScale } from './sizes.ts'
import {
  type Conditions,
  conditionOf,
  countedStatus,
  deadlineInMs,
  deadlineOf,
  isComplete,
  pauseConditions,
  progressing,
  rolloutStatus,
  withCondition,
} from './status.ts'
import { templateText } from './template.ts'

export interface Observed {
  deployment: Deployment | undefined
  selector: LabelSelector | undefined
  claim: Claim<ReplicaSet>
  nowMs: number
  lastFailure: Failure | undefined
  /** A ReplicaSet of the namespace by name, whoever owns it. */
  setNamed(name: string): ReplicaSet | undefined
  podsOf(set: ReplicaSet): readonly Pod[]
}

/** What the passes below share. */
interface Rollout extends Observed {
  deployment: Deployment
  goal: Goal
  /** The oldest ReplicaSet with the Deployment's template. */
  newest: ReplicaSet | undefined
  olds: readonly ReplicaSet[]
  revision: number
  conditions: Conditions
}

export function plan(observed: Observed): Plan {
  const { deployment, selector, claim } = observed
  if (deployment === undefined || selector === undefined) return NOTHING_TO_DO
  if (selector.length === 0) return selectsAll(deployment)
  // ReplicaSets that are adopted or released are handled once that is done.
  const claims = claimActions({ resource: REPLICA_SETS, owner: deployment, claim })
  if (claims.length > 0) return { actions: claims }
  const rollout = rolloutOf(observed, deployment)
  if (deployment.metadata.deletionTimestamp !== undefined) return finish(rollout, { isRollout: false })
  const sets = [...rollout.olds, ...(rollout.newest === undefined ? [] : [rollout.newest])].map(sized)
  if (deployment.spec?.paused === true || isScaled(rollout.goal, sets)) return scale(rollout)
  return rollout.goal.isRolling ? roll(rollout) : recreate(rollout)
}

function rolloutOf(observed: Observed, deployment: Deployment): Rollout {
  const text = templateText(deployment.spec?.template)
  const sets = [...observed.claim.claimed].sort(byCreation)
  const newest = sets.find((set) => templateText(set.spec?.template) === text)
  const olds = sets.filter((set) => set !== newest)
  const revision = nextRevision(olds)
  const rollout = { ...observed, deployment, goal: goalOf(deployment), newest, olds, revision }
  return { ...rollout, conditions: foundConditions(rollout, pauseConditions(deployment, observed.nowMs)) }
}

function byCreation(a: ReplicaSet, b: ReplicaSet): number {
  const [first, second] = [sized(a), sized(b)]
  return first.createdMs - second.createdMs || (first.name < second.name ? -1 : 1)
}

/** A ReplicaSet with the template exists though no condition says so, or though its creation had failed before. */
function foundConditions({ deployment, newest, nowMs }: Omit<Rollout, 'conditions'>, conditions: Conditions): Conditions {
  if (newest === undefined || deadlineOf(deployment) === undefined) return conditions
  const reason = conditionOf(conditions, 'Progressing')?.reason
  const name = `"${newest.metadata.name}"`
  if (reason === undefined)
    return withCondition(conditions, progressing('True', 'FoundNewReplicaSet', `Found new replica set ${name}`), nowMs)
  if (reason !== 'ReplicaSetCreateError') return conditions
  return withCondition(conditions, progressing('True', 'NewReplicaSetCreated', `Created new replica set ${name}`), nowMs)
}

/** While paused, and right after `replicas` was changed: sizes only; progress is not judged. */
function scale(rollout: Rollout): Plan {
  const { deployment, goal, newest, olds } = rollout
  const statusReplicas = deployment.status?.replicas ?? 0
  const steps = stepsToScale(goal, { newest: newest && sized(newest), olds: olds.map(sized), statusReplicas })
  // Recreate has no proportional scaling: old pods have to end before the size of the newest matters.
  if (steps.length === 0 && deployment.spec?.paused !== true) return goal.isRolling ? roll(rollout) : recreate(rollout)
  return finish(rollout, { steps, isRollout: false, cleans: deployment.spec?.paused === true })
}

function roll(rollout: Rollout): Plan {
  const { deployment, goal, newest, olds } = rollout
  if (newest === undefined) return create(rollout)
  const total = [...olds, newest].reduce((sum, set) => sum + sizeOf(set), 0)
  const size = newestSize(goal, sizeOf(newest), total)
  if (size !== sizeOf(newest)) return finish(rollout, { steps: [{ name: newest.metadata.name ?? '', to: size }] })
  const steps = stepsDown(goal, sized(newest), olds.map(sized))
  if (steps.length > 0) return finish(rollout, { steps })
  return finish(rollout, { cleans: isComplete(deployment, goal, deployment.status ?? {}) })
}

/** No new pod before the last old one has ended. */
function recreate(rollout: Rollout): Plan {
  const { deployment, goal, newest, olds } = rollout
  const active = olds.filter((set) => sizeOf(set) > 0)
  if (active.length > 0) return finish(rollout, { steps: active.map(({ metadata }) => ({ name: metadata.name ?? '', to: 0 })) })
  const isRunning = olds.some((set) => (set.status?.replicas ?? 0) > 0 || rollout.podsOf(set).some((pod) => !isPodTerminal(pod)))
  if (isRunning) return finish(rollout, {})
  if (newest === undefined) return create(rollout)
  const steps = sizeOf(newest) === goal.replicas ? [] : [{ name: newest.metadata.name ?? '', to: goal.replicas }]
  return finish(rollout, { steps, cleans: isComplete(deployment, goal, deployment.status ?? {}) })
}

function create(rollout: Rollout): Plan {
  const { deployment, goal, olds, revision, nowMs, lastFailure } = rollout
  const size = newestSize(
    goal,
    0,
    olds.reduce((sum, set) => sum + sizeOf(set), 0),
  )
  const made: NewSet = newSet({ deployment, goal, size, revision })
  const name = made.object.metadata.name ?? ''
  if (rollout.setNamed(name) !== undefined) return collide(deployment)
  const fields = progressing('True', 'NewReplicaSetCreated', `Created new replica set "${name}"`)
  if (lastFailure === undefined || deadlineOf(deployment) === undefined) {
    const conditions = deadlineOf(deployment) === undefined ? rollout.conditions : withCondition(rollout.conditions, fields, nowMs)
    return finish({ ...rollout, newest: made.object, conditions }, { creates: made.action })
  }
  // It may fail again and end the pass: the reason is written first, and the success by the next pass.
  const message = `Failed to create new replica set "${name}": ${lastFailure.message}`
  const conditions = withCondition(rollout.conditions, progressing('False', 'ReplicaSetCreateError', message), nowMs)
  const statusWrites = statusActions(rollout, rolloutStatus({ ...rollout, all: olds, conditions }))
  return statusWrites.length > 0
    ? { actions: [...statusWrites, made.action] }
    : finish({ ...rollout, newest: made.object, conditions: withCondition(conditions, fields, nowMs) }, { creates: made.action })
}

/** Another ReplicaSet has the name: the next pass hashes with a higher collision count and gets another one. */
function collide(deployment: Deployment): Plan {
  const status = { collisionCount: (deployment.status?.collisionCount ?? 0) + 1 }
  return { actions: [{ do: 'patch', resource: DEPLOYMENTS, of: deployment, patch: { status }, subresource: 'status' }] }
}

interface Ending {
  steps?: readonly Step[]
  creates?: Action
  /** Old ReplicaSets beyond the history limit are deleted. */
  cleans?: boolean
  /** Progress is judged (default). */
  isRollout?: boolean
}

function finish(rollout: Rollout, { steps = [], creates, cleans = false, isRollout = true }: Ending): Plan {
  const { deployment, goal, newest, olds, revision, nowMs } = rollout
  const changes = setActions({ deployment, goal, steps, revision, olds, newest: creates === undefined ? newest : undefined })
  const sizes = new Map(steps.map(({ name, to }) => [name, to]))
  const resized = (set: ReplicaSet): ReplicaSet => ({
    ...set,
    spec: { ...set.spec, replicas: sizes.get(set.metadata.name ?? '') ?? sizeOf(set) },
  })
  const all = [...olds, ...(newest === undefined ? [] : [newest])].map(resized)
  const status = isRollout ? rolloutStatus({ ...rollout, all }) : countedStatus({ ...rollout, all })
  const actions = [
    ...(creates === undefined ? [] : [creates]),
    ...changes,
    ...(cleans ? historyActions(rollout) : []),
    ...statusActions(rollout, status),
  ]
  return { actions, requeueAfterMs: isRollout ? deadlineInMs(deployment, goal, { status, nowMs }) : undefined }
}

function historyActions({ deployment, olds }: Rollout): Action[] {
  const limit = deployment.spec?.revisionHistoryLimit
  const alive = olds.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (limit === undefined || alive.length <= limit) return []
  const byRevision = [...alive].sort((a, b) => {
    const [first, second] = [revisionOf(a), revisionOf(b)]
    return first === undefined || second === undefined || first === second ? byCreation(a, b) : first - second
  })
  return byRevision
    .slice(0, alive.length - limit)
    .filter((set) => {
      const isSeen = (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0)
      return isSeen && sizeOf(set) === 0 && (set.status?.replicas ?? 0) === 0
    })
    .map((set) => ({ do: 'delete', resource: REPLICA_SETS, of: set }))
}

/** The status, and with it the revision that is being rolled out. */
function statusActions({ deployment, newest, revision }: Rollout, next: DeploymentStatus): Action[] {
  const { terminatingReplicas, ...others } = next
  const isCounted = deployment.status?.terminatingReplicas === terminatingReplicas
  const counted = isCounted ? {} : { terminatingReplicas: terminatingReplicas ?? null }
  const changes = statusPatch<DeploymentStatus>(deployment.status, others)
  const reached = newest === undefined ? undefined : String(Math.max(revisionOf(newest) ?? 0, revision))
  const isNoted = reached === undefined || annotationOf(deployment, REVISION) === reached
  if (changes === undefined && isCounted && isNoted) return []
  const metadata = isNoted ? {} : { metadata: { annotations: { [REVISION]: reached } } }
  const patch = { ...metadata, status: { ...changes, ...counted } }
  return [{ do: 'patch', resource: DEPLOYMENTS, of: deployment, patch, subresource: 'status' }]
}

function selectsAll(deployment: Deployment): Plan {
  const { generation = 0 } = deployment.metadata
  if ((deployment.status?.observedGeneration ?? 0) >= generation) return NOTHING_TO_DO
  const message = 'This deployment is selecting all pods. A non-empty selector is required.'
  const patch = { status: { observedGeneration: generation } }
  const events = { of: deployment, type: 'Warning', reason: 'SelectingAll', message } as const
  return { actions: [{ do: 'patch', resource: DEPLOYMENTS, of: deployment, patch, subresource: 'status', events }] }
}
