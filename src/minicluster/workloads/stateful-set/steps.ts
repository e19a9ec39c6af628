/**
 * One step with the pods of a StatefulSet. OrderedReady: one pod at a time is in transition, and everything waits for
 * it. Parallel: pods are created and deleted at once, and only updates go one by one. Scaling comes before updating.
 */
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../kinds/kubernetes/types.ts'
import type { Action, Batch, KeyedEvent } from '../../../runtime/controller.ts'
import { isPodAvailable, isPodTerminal } from '../pod/state.ts'
import { claimEvents, claimGoing, contestedClaim, podEvents } from './events.ts'
import { claimsOf, firstOrdinal, isInRange, newPod, ordinalOf, repaired, replicasOf, revisionOf, type Version } from './identity.ts'
import { isClaimStale, wantedOwners } from './retention.ts'
import { isRunningAndReady } from './status.ts'

/** Pods created in one pass: the rest follows in the next. */
const BURST = 500

export interface StepInput {
  set: StatefulSet
  pods: readonly Pod[]
  claimNamed(name: string): PersistentVolumeClaim | undefined
  current: Version
  update: Version
  nowMs: number
}

export interface Steps {
  actions: (Action | Batch)[]
  events: KeyedEvent[]
  /** How many of them delete a pod for the update. */
  leaving: number
}

export const NO_STEPS: Steps = Object.freeze({ actions: [], events: [], leaving: 0 })

interface StepContext extends StepInput {
  isOrdered: boolean
  replicas: ReadonlyMap<number, Pod>
  /** Beyond the range, the highest ordinal first. */
  condemned: readonly Pod[]
}

export function nextSteps(input: StepInput): Steps {
  const { set } = input
  const replicas = new Map<number, Pod>()
  const condemned: Pod[] = []
  for (const pod of input.pods) {
    if (isInRange(set, ordinalOf(pod))) replicas.set(ordinalOf(pod), pod)
    else condemned.push(pod)
  }
  condemned.sort((a, b) => ordinalOf(b) - ordinalOf(a))
  const isOrdered = set.spec?.podManagementPolicy !== 'Parallel'
  const context: StepContext = { ...input, isOrdered, replicas, condemned }
  const kept = keepReplicas(context)
  const { events = [] } = kept
  if (kept.isBlocked) return { actions: kept.actions, events, leaving: 0 }
  const actions = [...kept.actions, ...condemned.flatMap((pod) => ownClaims(context, pod, false))]
  const removed = removeCondemned(context)
  if (removed.isBlocked) return { actions: [...actions, ...removed.actions], events, leaving: 0 }
  const replaced = replaceOne(context)
  return { actions: [...actions, ...removed.actions, ...replaced], events, leaving: replaced.length }
}

interface Part {
  actions: (Action | Batch)[]
  /** Nothing further may happen before this is complete. */
  isBlocked: boolean
  events?: KeyedEvent[]
}

/** Makes sure that every replica exists and is healthy, in the order of ordinals. */
function keepReplicas(context: StepContext): Part {
  const { set, isOrdered } = context
  const first = firstOrdinal(set)
  const actions: (Action | Batch)[] = []
  // Pods that need no new claims are created at once; the others after their claims, one by one.
  const bare: Action[] = []
  const events: KeyedEvent[] = []
  let created = 0
  for (let ordinal = first; ordinal < first + replicasOf(set) && created < BURST; ordinal++) {
    const pod = context.replicas.get(ordinal)
    const part = pod === undefined ? createReplica(context, ordinal) : keepReplica(context, pod)
    if (pod === undefined) created++
    events.push(...(part.events ?? []))
    if (pod === undefined && !isOrdered && part.actions.length === 1) bare.push(...(part.actions as Action[]))
    else actions.push(...part.actions)
    if (part.isBlocked && isOrdered) return { actions, isBlocked: true, events }
  }
  return { actions: bare.length > 0 ? [{ do: 'batch', actions: bare }, ...actions] : actions, isBlocked: false, events }
}

function createReplica(context: StepContext, ordinal: number): Part {
  const { set, current, update, claimNamed } = context
  const pod = newPod(set, isAtCurrent(set, ordinal) ? current : update, ordinal)
  const name = pod.metadata.name ?? ''
  const claims = claimsOf(set, ordinal)
  // Claims being deleted are waited for: their names are needed.
  const held = claims.map(({ metadata }) => claimNamed(metadata.name)).filter((claim) => claim !== undefined)
  if (held.some((claim) => isClaimStale(claim, set, name))) return { actions: [], isBlocked: true }
  const going = held.find(({ metadata }) => metadata.deletionTimestamp !== undefined)
  if (going !== undefined) return { actions: [], isBlocked: true, events: [claimGoing(set, name, going.metadata.name ?? '')] }
  const create: Action = { do: 'create', resource: PODS, object: pod, ...podEvents(set, 'Create', name) }
  return { actions: [...createClaims(context, ordinal, name), create], isBlocked: true }
}

function createClaims({ set, claimNamed }: StepContext, ordinal: number, pod: string): Action[] {
  return claimsOf(set, ordinal)
    .filter(({ metadata }) => claimNamed(metadata.name) === undefined)
    .map((object) => ({
      ...{ do: 'create', resource: PERSISTENT_VOLUME_CLAIMS, object },
      ...claimEvents(set, object.metadata.name, pod),
    }))
}

/** Below the partition pods are created from the current revision. */
function isAtCurrent(set: StatefulSet, ordinal: number): boolean {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  const index = ordinal - firstOrdinal(set)
  if (rollingUpdate !== undefined) return index < (rollingUpdate.partition ?? 0)
  return type === 'RollingUpdate' && index < (set.status?.currentReplicas ?? 0)
}

const isGoing = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined

function isAvailable({ set, nowMs }: StepContext, pod: Pod): boolean {
  return isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)
}

function keepReplica(context: StepContext, pod: Pod): Part {
  const { set, isOrdered } = context
  // However it ended, it is recreated; by a later pass, when it is gone.
  if (isPodTerminal(pod)) return { actions: isGoing(pod) ? [] : [removal(set, pod)], isBlocked: true }
  const actions: Action[] = []
  if (pod.status?.phase === 'Pending') {
    actions.push(...createClaims(context, ordinalOf(pod), pod.metadata.name ?? ''), ...ownClaims(context, pod, false))
    if (isOrdered) return { actions, isBlocked: true }
    return { actions: [...actions, ...repair(context, pod)], isBlocked: false }
  }
  if (isOrdered && (isGoing(pod) || !isRunningAndReady(pod) || !isAvailable(context, pod))) return { actions, isBlocked: true }
  return { actions: [...ownClaims(context, pod, true), ...repair(context, pod)], isBlocked: false }
}

const removal = (set: StatefulSet, pod: Pod): Action => ({
  ...{ do: 'delete', resource: PODS, of: pod },
  ...podEvents(set, 'Delete', pod.metadata.name ?? ''),
})

function repair(context: StepContext, pod: Pod): Action[] {
  const object = repaired(context.set, pod)
  if (object === undefined) return []
  const name = pod.metadata.name ?? ''
  const update: Action = { do: 'update', resource: PODS, object, ...podEvents(context.set, 'Update', name) }
  return [...createClaims(context, ordinalOf(pod), name), update]
}

/** Gives the claims of a pod the owners that the retention policy wants. */
function ownClaims({ set, claimNamed }: StepContext, pod: Pod, recordsEvent: boolean): Action[] {
  const actions: Action[] = []
  for (const { metadata } of claimsOf(set, ordinalOf(pod))) {
    const claim = claimNamed(metadata.name)
    const owners = claim === undefined ? undefined : wantedOwners(claim, set, pod)
    if (claim === undefined || owners === undefined) continue
    const { ownerReferences, isContested } = owners
    const events = isContested ? contestedClaim(set, metadata.name) : undefined
    actions.push({ do: 'patch', resource: PERSISTENT_VOLUME_CLAIMS, of: claim, patch: { metadata: { ownerReferences } }, events })
  }
  const last = actions.at(-1)
  if (last !== undefined && recordsEvent && last.events === undefined)
    actions[actions.length - 1] = { ...last, ...podEvents(set, 'Update', pod.metadata.name ?? '') }
  return actions
}

/** From the highest ordinal down; if ordered, one at a time and not past an unhealthy one. */
function removeCondemned(context: StepContext): Part {
  const { set, condemned, isOrdered } = context
  if (!isOrdered) {
    const actions = condemned.filter((pod) => !isGoing(pod)).map((pod) => removal(set, pod))
    return { actions: actions.length > 0 ? [{ do: 'batch', actions }] : [], isBlocked: false }
  }
  const [next] = condemned
  if (next === undefined) return { actions: [], isBlocked: false }
  const firstUnwell = condemned.findLast((pod) => isGoing(pod) || !isAvailable(context, pod))
  const isWell = isRunningAndReady(next) && isAvailable(context, next)
  const mayGo = !isGoing(next) && (isWell || next === firstUnwell)
  return { actions: mayGo ? [removal(set, next)] : [], isBlocked: true }
}

/** Deletes one pod of an old revision to be recreated from the new one, if all above it are done. */
function replaceOne(context: StepContext): Action[] {
  const { set, update, replicas } = context
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type === 'OnDelete') return []
  const first = firstOrdinal(set)
  for (let index = replicasOf(set) - 1; index >= (rollingUpdate?.partition ?? 0); index--) {
    const pod = replicas.get(first + index)
    if (pod === undefined || isPodTerminal(pod)) return []
    if (revisionOf(pod) !== update.name && !isGoing(pod)) return [removal(set, pod)]
    if (isGoing(pod) || !isAvailable(context, pod)) return []
  }
  return []
}
