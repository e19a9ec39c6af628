/**
 * What a StatefulSet does next. OrderedReady: one pod at a time is in transition, and everything waits for it. Parallel:
 * pods come and go at once, and only updates go one by one. Scaling comes before updating; both proceed from the state
 * that was seen, never from what was done before.
 */
import { CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS } from '../../../client/builtin-resources.ts'
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '../../../kinds/kubernetes/types.ts'
import type { Action, Plan, Together } from '../../../runtime/controller.ts'
import { type Claim, claimActions } from '../pod/ownership.ts'
import { isPodAvailable, isPodTerminal, nextPodAvailableInMs } from '../pod/state.ts'
import { dataHash } from '../revision/hash.ts'
import { dataOf, type Found, newRevision, readHistory, renumber, templateIn, truncate } from '../revision/history.ts'
import { contestedClaim, tellingClaim, tellingPod } from './events.ts'
import { claimsOf, firstOrdinal, isInRange, newPod, ordinalOf, repaired, replicasOf, revisionOf, type Version } from './identity.ts'
import { isClaimStale, wantedOwners } from './retention.ts'
import { isRunningAndReady, isStatusCurrent, statusOf } from './status.ts'

export interface Observed {
  set: StatefulSet
  pods: Claim<Pod>
  revisions: Claim<ControllerRevision>
  /** Whatever holds a name in the set's namespace. */
  revisionNamed(name: string): ControllerRevision | undefined
  claimNamed(name: string): PersistentVolumeClaim | undefined
  nowMs: number
}

/** Pods created in one pass: the rest follows in the next. */
const BURST = 500
const HASH_LABEL = 'controller.kubernetes.io/hash'
const HISTORY_LIMIT = 10

export function plan(observed: Observed): Plan {
  const { set, pods, revisions } = observed
  const claimed = [
    ...claimActions({ resource: CONTROLLER_REVISIONS, owner: set, claim: { adopt: revisions.adopt, release: [] } }),
    ...claimActions({ resource: PODS, owner: set, claim: pods }),
  ]
  const history = readHistory(revisions.claimed, dataOf(set.spec?.template))
  const { revision: update, exists, collisions } = updateRevisionOf(observed, history)
  // Pods are labelled with a revision only when it is there for certain; its appearance wakes us.
  if (!exists)
    return { actions: [...claimed, ...counted(set, collisions ?? 0), { do: 'create', resource: CONTROLLER_REVISIONS, object: update }] }
  const current = revisions.claimed.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update
  const steps = set.metadata.deletionTimestamp === undefined ? nextSteps(observed, versionOf(current), versionOf(update)) : NO_STEPS
  const status = statusOf({
    ...{ set, pods: pods.claimed, nowMs: observed.nowMs, leaving: steps.leaving, collisionCount: collisions ?? 0 },
    ...{ currentRevision: current.metadata.name ?? '', updateRevision: update.metadata.name ?? '' },
  })
  const written: Action[] = isStatusCurrent(set.status, status)
    ? []
    : [{ do: 'patch', resource: STATEFUL_SETS, of: set, patch: { status }, subresource: 'status' }]
  const live = new Set([current.metadata.name, update.metadata.name, ...pods.claimed.map(revisionOf)])
  const dead = revisions.claimed.filter(({ metadata }) => !live.has(metadata.name)).length
  const limit = set.spec?.revisionHistoryLimit ?? HISTORY_LIMIT
  return {
    // What was seen is said first: a refused creation must not keep the status from being true.
    actions: [
      ...claimed,
      ...renumber(history),
      ...written,
      ...truncate(history.old, dead - limit, ({ metadata }) => live.has(metadata.name)),
      ...steps.actions,
    ],
    recheckAfterMs: nextPodAvailableInMs(pods.claimed, set.spec?.minReadySeconds ?? 0, observed.nowMs),
  }
}

function updateRevisionOf({ set, revisionNamed }: Observed, history: ReturnType<typeof readHistory>): Found {
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

/** Names of revisions that met others are remembered as a number. */
function counted(set: StatefulSet, collisionCount: number): Action[] {
  if (collisionCount === (set.status?.collisionCount ?? 0)) return []
  return [{ do: 'patch', resource: STATEFUL_SETS, of: set, patch: { status: { collisionCount } }, subresource: 'status' }]
}

const versionOf = (revision: ControllerRevision): Version => ({ name: revision.metadata.name ?? '', template: templateIn(revision) })

interface Steps {
  actions: (Action | Together)[]
  /** How many of them delete a pod for the update. */
  leaving: number
}

const NO_STEPS: Steps = Object.freeze({ actions: [], leaving: 0 })

interface Situation extends Observed {
  current: Version
  update: Version
  isOrdered: boolean
  replicas: ReadonlyMap<number, Pod>
  /** Beyond the range, the highest ordinal first. */
  condemned: readonly Pod[]
}

function nextSteps(observed: Observed, current: Version, update: Version): Steps {
  const { set } = observed
  const replicas = new Map<number, Pod>()
  const condemned: Pod[] = []
  for (const pod of observed.pods.claimed) {
    if (isInRange(set, ordinalOf(pod))) replicas.set(ordinalOf(pod), pod)
    else condemned.push(pod)
  }
  condemned.sort((a, b) => ordinalOf(b) - ordinalOf(a))
  const isOrdered = set.spec?.podManagementPolicy !== 'Parallel'
  const situation: Situation = { ...observed, current, update, isOrdered, replicas, condemned }
  const kept = keepReplicas(situation)
  if (kept.isBlocked) return { actions: kept.actions, leaving: 0 }
  const actions = [...kept.actions, ...condemned.flatMap((pod) => ownClaims(situation, pod, false))]
  const removed = removeCondemned(situation)
  if (removed.isBlocked) return { actions: [...actions, ...removed.actions], leaving: 0 }
  const replaced = replaceOne(situation)
  return { actions: [...actions, ...removed.actions, ...replaced], leaving: replaced.length }
}

interface Part {
  actions: (Action | Together)[]
  /** Nothing further may happen before this has come to an end. */
  isBlocked: boolean
}

/** Every replica is there and well, in the order of ordinals. */
function keepReplicas(situation: Situation): Part {
  const { set, isOrdered } = situation
  const first = firstOrdinal(set)
  const actions: (Action | Together)[] = []
  // Those that need nothing but themselves are created at once; the others after their claims, one by one.
  const bare: Action[] = []
  let created = 0
  for (let ordinal = first; ordinal < first + replicasOf(set) && created < BURST; ordinal++) {
    const pod = situation.replicas.get(ordinal)
    const part = pod === undefined ? createReplica(situation, ordinal) : keepReplica(situation, pod)
    if (pod === undefined) created++
    if (pod === undefined && !isOrdered && part.actions.length === 1) bare.push(...(part.actions as Action[]))
    else actions.push(...part.actions)
    if (part.isBlocked && isOrdered) return { actions, isBlocked: true }
  }
  return { actions: bare.length > 0 ? [{ do: 'together', actions: bare }, ...actions] : actions, isBlocked: false }
}

function createReplica(situation: Situation, ordinal: number): Part {
  const { set, current, update, claimNamed } = situation
  const pod = newPod(set, isAtCurrent(set, ordinal) ? current : update, ordinal)
  const name = pod.metadata.name ?? ''
  const claims = claimsOf(set, ordinal)
  // Claims on their way out are waited for: their names are needed.
  const mustWait = claims.some(({ metadata }) => {
    const held = claimNamed(metadata.name)
    return held !== undefined && (held.metadata.deletionTimestamp !== undefined || isClaimStale(held, set, name))
  })
  if (mustWait) return { actions: [], isBlocked: true }
  const create: Action = { do: 'create', resource: PODS, object: pod, ...tellingPod(set, 'Create', name) }
  return { actions: [...createClaims(situation, ordinal, name), create], isBlocked: true }
}

function createClaims({ set, claimNamed }: Situation, ordinal: number, pod: string): Action[] {
  return claimsOf(set, ordinal)
    .filter(({ metadata }) => claimNamed(metadata.name) === undefined)
    .map((object) => ({
      ...{ do: 'create', resource: PERSISTENT_VOLUME_CLAIMS, object },
      ...tellingClaim(set, object.metadata.name, pod),
    }))
}

/** Below the partition pods are made as they were. */
function isAtCurrent(set: StatefulSet, ordinal: number): boolean {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  const index = ordinal - firstOrdinal(set)
  if (rollingUpdate !== undefined) return index < (rollingUpdate.partition ?? 0)
  return type === 'RollingUpdate' && index < (set.status?.currentReplicas ?? 0)
}

const isGoing = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined

function isAvailable({ set, nowMs }: Situation, pod: Pod): boolean {
  return isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)
}

function keepReplica(situation: Situation, pod: Pod): Part {
  const { set, isOrdered } = situation
  // However it ended, it is made again; by a later pass, when it is gone.
  if (isPodTerminal(pod)) return { actions: isGoing(pod) ? [] : [removal(set, pod)], isBlocked: true }
  const actions: Action[] = []
  if (pod.status?.phase === 'Pending') {
    actions.push(...createClaims(situation, ordinalOf(pod), pod.metadata.name ?? ''), ...ownClaims(situation, pod, false))
    if (isOrdered) return { actions, isBlocked: true }
    return { actions: [...actions, ...repair(situation, pod)], isBlocked: false }
  }
  if (isOrdered && (isGoing(pod) || !isRunningAndReady(pod) || !isAvailable(situation, pod))) return { actions, isBlocked: true }
  return { actions: [...ownClaims(situation, pod, true), ...repair(situation, pod)], isBlocked: false }
}

const removal = (set: StatefulSet, pod: Pod): Action => ({
  ...{ do: 'delete', resource: PODS, of: pod },
  ...tellingPod(set, 'Delete', pod.metadata.name ?? ''),
})

function repair(situation: Situation, pod: Pod): Action[] {
  const object = repaired(situation.set, pod)
  if (object === undefined) return []
  const name = pod.metadata.name ?? ''
  const update: Action = { do: 'update', resource: PODS, object, ...tellingPod(situation.set, 'Update', name) }
  return [...createClaims(situation, ordinalOf(pod), name), update]
}

/** The claims of a pod get the owners that the retention policy wants. */
function ownClaims({ set, claimNamed }: Situation, pod: Pod, isTold: boolean): Action[] {
  const actions: Action[] = []
  for (const { metadata } of claimsOf(set, ordinalOf(pod))) {
    const claim = claimNamed(metadata.name)
    const owners = claim === undefined ? undefined : wantedOwners(claim, set, pod)
    if (claim === undefined || owners === undefined) continue
    const { ownerReferences, isContested } = owners
    const tells = isContested ? contestedClaim(set, metadata.name) : undefined
    actions.push({ do: 'patch', resource: PERSISTENT_VOLUME_CLAIMS, of: claim, patch: { metadata: { ownerReferences } }, tells })
  }
  const last = actions.at(-1)
  if (last !== undefined && isTold && last.tells === undefined)
    actions[actions.length - 1] = { ...last, ...tellingPod(set, 'Update', pod.metadata.name ?? '') }
  return actions
}

/** From the highest ordinal down; in order, one at a time and not past one that is unwell. */
function removeCondemned(situation: Situation): Part {
  const { set, condemned, isOrdered } = situation
  if (!isOrdered) {
    const actions = condemned.filter((pod) => !isGoing(pod)).map((pod) => removal(set, pod))
    return { actions: actions.length > 0 ? [{ do: 'together', actions }] : [], isBlocked: false }
  }
  const [next] = condemned
  if (next === undefined) return { actions: [], isBlocked: false }
  const firstUnwell = condemned.findLast((pod) => isGoing(pod) || !isAvailable(situation, pod))
  const isWell = isRunningAndReady(next) && isAvailable(situation, next)
  const mayGo = !isGoing(next) && (isWell || next === firstUnwell)
  return { actions: mayGo ? [removal(set, next)] : [], isBlocked: true }
}

/** One pod of an old revision makes room for a new one, if all above it are done. */
function replaceOne(situation: Situation): Action[] {
  const { set, update, replicas } = situation
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type === 'OnDelete') return []
  const first = firstOrdinal(set)
  for (let index = replicasOf(set) - 1; index >= (rollingUpdate?.partition ?? 0); index--) {
    const pod = replicas.get(first + index)
    if (pod === undefined || isPodTerminal(pod)) return []
    if (revisionOf(pod) !== update.name && !isGoing(pod)) return [removal(set, pod)]
    if (isGoing(pod) || !isAvailable(situation, pod)) return []
  }
  return []
}
