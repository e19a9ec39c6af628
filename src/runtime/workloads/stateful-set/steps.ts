/**
 * The step towards the wanted pods of a set, and away from those that are not wanted. OrderedReady: one pod at a time is in
 * transition, and everything waits for it. Parallel: pods are created and deleted at once, within `maxUnavailable` where it
 * is given. Updating comes after scaling and is up to each kind.
 */
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { PersistentVolumeClaim, Pod } from '../../../kinds/kubernetes/types.ts'
import type { Action, Batch, KeyedEvent } from '../../controller.ts'
import { isPodTerminal, isRunningAndReady } from '../pod/state.ts'
import { claimEvents, claimGoing, contestedClaim, podEvents } from './events.ts'
import { claimsOf, newPod, ordinalOf, repaired, type Version } from './identity.ts'
import { type Ordinals, ordinalsOf } from './ordinals.ts'
import { isClaimStale, wantedOwners } from './retention.ts'
import type { StatefulWorkload } from './workload.ts'

/** Pods created in one pass: the rest follows in the next. */
const BURST = 500

export interface ScaleInput {
  set: StatefulWorkload
  pods: readonly Pod[]
  claimNamed(name: string): PersistentVolumeClaim | undefined
  /** What the pod with this ordinal is created from. */
  versionFor(ordinal: number): Version
  /** Ready for long enough, and with nothing of an update left to happen. */
  isAvailable(pod: Pod): boolean
  /** Of the wanted pods, if Parallel: no further one is created while this many are missing or not available (default: no limit). */
  maxUnavailable?: number
}

export interface Scaled {
  actions: (Action | Batch)[]
  events: KeyedEvent[]
  /** Nothing further may happen before this is complete. */
  isBlocked: boolean
  ordinals: Ordinals
  /** Pods with a wanted ordinal. */
  replicas: ReadonlyMap<number, Pod>
}

interface ScaleContext extends ScaleInput {
  isOrdered: boolean
  ordinals: Ordinals
  replicas: ReadonlyMap<number, Pod>
  /** Those that are not wanted, the highest ordinal first. */
  condemned: readonly Pod[]
}

export function scale(input: ScaleInput): Scaled {
  const { set } = input
  const ordinals = ordinalsOf(set)
  const replicas = new Map<number, Pod>()
  const condemned: Pod[] = []
  for (const pod of input.pods) {
    if (ordinals.has(ordinalOf(pod))) replicas.set(ordinalOf(pod), pod)
    else condemned.push(pod)
  }
  condemned.sort((a, b) => ordinalOf(b) - ordinalOf(a))
  const isOrdered = set.spec?.podManagementPolicy !== 'Parallel'
  const context: ScaleContext = { ...input, isOrdered, ordinals, replicas, condemned }
  const kept = keepReplicas(context)
  const { events = [] } = kept
  if (kept.isBlocked) return { actions: kept.actions, events, isBlocked: true, ordinals, replicas }
  const owned = condemned.flatMap((pod) => ownClaims(context, pod, false))
  const removed = removeCondemned(context)
  return { actions: [...kept.actions, ...owned, ...removed.actions], events, isBlocked: removed.isBlocked, ordinals, replicas }
}

interface Part {
  actions: (Action | Batch)[]
  isBlocked: boolean
  events?: KeyedEvent[]
}

/** Makes sure that every replica exists and is healthy, in the order of ordinals. */
function keepReplicas(context: ScaleContext): Part {
  const { isOrdered, ordinals, maxUnavailable = Number.POSITIVE_INFINITY } = context
  const actions: (Action | Batch)[] = []
  // Pods that need no new claims are created at once; the others after their claims, one by one.
  const bare: Action[] = []
  const events: KeyedEvent[] = []
  let created = 0
  let unavailable = isOrdered ? 0 : countUnavailable(context)
  for (const ordinal of ordinals) {
    if (created >= BURST) break
    const pod = context.replicas.get(ordinal)
    if (pod === undefined && !isOrdered && unavailable >= maxUnavailable) continue
    const part = pod === undefined ? createReplica(context, ordinal) : keepReplica(context, pod)
    if (pod === undefined) {
      created++
      unavailable++
    }
    events.push(...(part.events ?? []))
    if (pod === undefined && !isOrdered && part.actions.length === 1) bare.push(...(part.actions as Action[]))
    else actions.push(...part.actions)
    if (part.isBlocked && isOrdered) return { actions, isBlocked: true, events }
  }
  return { actions: bare.length > 0 ? [{ do: 'batch', actions: bare }, ...actions] : actions, isBlocked: false, events }
}

/** Of the pods that exist. */
function countUnavailable({ replicas, isAvailable }: ScaleContext): number {
  let count = 0
  for (const pod of replicas.values()) if (isGoing(pod) || !isAvailable(pod)) count++
  return count
}

function createReplica(context: ScaleContext, ordinal: number): Part {
  const { set, versionFor, claimNamed } = context
  const pod = newPod(set, versionFor(ordinal), ordinal)
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

function createClaims({ set, claimNamed }: ScaleContext, ordinal: number, pod: string): Action[] {
  return claimsOf(set, ordinal)
    .filter(({ metadata }) => claimNamed(metadata.name) === undefined)
    .map((object) => ({
      ...{ do: 'create', resource: PERSISTENT_VOLUME_CLAIMS, object },
      ...claimEvents(set, object.metadata.name, pod),
    }))
}

export const isGoing = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined

function keepReplica(context: ScaleContext, pod: Pod): Part {
  const { set, isOrdered } = context
  // However it ended, it is recreated; by a later pass, when it is gone.
  if (isPodTerminal(pod)) return { actions: isGoing(pod) ? [] : [removal(set, pod)], isBlocked: true }
  const actions: Action[] = []
  if (pod.status?.phase === 'Pending') {
    actions.push(...createClaims(context, ordinalOf(pod), pod.metadata.name ?? ''), ...ownClaims(context, pod, false))
    if (isOrdered) return { actions, isBlocked: true }
    return { actions: [...actions, ...repair(context, pod)], isBlocked: false }
  }
  if (isOrdered && (isGoing(pod) || !isRunningAndReady(pod) || !context.isAvailable(pod))) return { actions, isBlocked: true }
  return { actions: [...ownClaims(context, pod, true), ...repair(context, pod)], isBlocked: false }
}

export const removal = (set: StatefulWorkload, pod: Pod): Action => ({
  ...{ do: 'delete', resource: PODS, of: pod },
  ...podEvents(set, 'Delete', pod.metadata.name ?? ''),
})

function repair(context: ScaleContext, pod: Pod): Action[] {
  const object = repaired(context.set, pod)
  if (object === undefined) return []
  const name = pod.metadata.name ?? ''
  const update: Action = { do: 'update', resource: PODS, object, ...podEvents(context.set, 'Update', name) }
  return [...createClaims(context, ordinalOf(pod), name), update]
}

/** Gives the claims of a pod the owners that the retention policy wants. */
function ownClaims({ set, claimNamed }: ScaleContext, pod: Pod, recordsEvent: boolean): Action[] {
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
function removeCondemned(context: ScaleContext): Part {
  const { set, condemned, isOrdered } = context
  if (!isOrdered) {
    const actions = condemned.filter((pod) => !isGoing(pod)).map((pod) => removal(set, pod))
    return { actions: actions.length > 0 ? [{ do: 'batch', actions }] : [], isBlocked: false }
  }
  const [next] = condemned
  if (next === undefined) return { actions: [], isBlocked: false }
  const firstUnwell = condemned.findLast((pod) => isGoing(pod) || !context.isAvailable(pod))
  const isWell = isRunningAndReady(next) && context.isAvailable(next)
  const mayGo = !isGoing(next) && (isWell || next === firstUnwell)
  return { actions: mayGo ? [removal(set, next)] : [], isBlocked: true }
}
