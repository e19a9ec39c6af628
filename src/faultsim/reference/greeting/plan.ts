/** What to do about a greeting: pure, from what was observed to writes, effects and the next requeue. */
import { formatTime } from '../../../base/clock.ts'
import { deepEqual } from '../../../base/json.ts'
import { CONFIG_MAPS } from '../../../kinds/kubernetes/resources.ts'
import { childName } from '../../../kube/child-name.ts'
import { type Condition, setCondition } from '../../../kube/conditions.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { type Action, type EffectRequest, NOTHING_TO_DO, type Outcome, type Plan, request } from '../../../runtime/controller.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../../runtime/finalizer.ts'
import { type Card, GREETINGS, type Greeting, type Use } from '../kinds.ts'
import type { BoardEffects } from './board.ts'

export const FINALIZER = 'example.sluice.dev/board'
const OWNER = { apiVersion: 'example.sluice.dev/v1', kind: 'Greeting' }

export interface Observed {
  greeting: Greeting | undefined
  /** The card it names, where there is one. */
  card: Card | undefined
  /** ConfigMaps of a greeting of this name, including those of an earlier greeting of the same name. */
  children: readonly KubeObject[]
  put: Outcome<string> | undefined
  takenDown: Outcome<string> | undefined
  /** Whether the server still has the greeting as it was seen; checked when ConfigMaps are to be deleted. */
  isFresh: boolean
  nowMs: number
}

/** Identifies an effect on the board. */
export function keysOf({ metadata }: Greeting): { put: string; takeDown: string } {
  return { put: `${metadata.uid} ${metadata.generation}`, takeDown: `${metadata.uid}` }
}

/** The greeting a ConfigMap belongs to. */
export function ownerOf(map: KubeObject): ObjectRef[] {
  const owner = map.metadata.ownerReferences?.find(({ controller, kind }) => controller === true && kind === OWNER.kind)
  return owner === undefined ? [] : [{ namespace: map.metadata.namespace ?? '', name: owner.name }]
}

export function plannedWith(effects: BoardEffects): (observed: Observed) => Plan {
  return (observed) => {
    const { greeting } = observed
    if (greeting === undefined) return NOTHING_TO_DO
    return greeting.metadata.deletionTimestamp === undefined ? planLife(greeting, observed, effects) : planEnd(greeting, observed, effects)
  }
}

function planLife(greeting: Greeting, observed: Observed, effects: BoardEffects): Plan {
  // Nothing is put on the board before it is certain to be taken down.
  if (!hasFinalizer(greeting, FINALIZER)) return { actions: [addFinalizer(GREETINGS, greeting, FINALIZER)] }
  const leftMs = timeLeft(greeting, observed.nowMs)
  if (leftMs !== undefined && leftMs <= 0) return { actions: [{ do: 'delete', resource: GREETINGS, of: greeting }] }
  const wanted = peopleOf(greeting).map((person) => childOf(greeting, person))
  const surplus = surplusOf(greeting, observed.children)
  // A stale cache may show a spec that was reverted: a person who is greeted again must not lose the ConfigMap. The event is coming.
  if (surplus.length > 0 && !observed.isFresh) return NOTHING_TO_DO
  const actions: Action[] = [
    ...wanted.map((object): Action => ({ do: 'apply', resource: CONFIG_MAPS, object })),
    ...surplus.map((of): Action => ({ do: 'delete', resource: CONFIG_MAPS, of })),
    ...statusChange(greeting, observed, wanted.length),
  ]
  const isPosted = observed.put?.state === 'done' || greeting.status?.postedGeneration === greeting.metadata.generation
  return { actions, effects: isPosted ? [] : [post(greeting, effects)], requeueAfterMs: leftMs }
}

function planEnd(greeting: Greeting, { takenDown }: Observed, effects: BoardEffects): Plan {
  if (!hasFinalizer(greeting, FINALIZER)) return NOTHING_TO_DO
  if (takenDown?.state !== 'done')
    return { actions: [], effects: [request(effects.takeDown, keysOf(greeting).takeDown, { id: greeting.metadata.uid ?? '' })] }
  return { actions: [removeFinalizer(GREETINGS, greeting, FINALIZER)] }
}

function post(greeting: Greeting, effects: BoardEffects): EffectRequest {
  const { uid = '', generation = 0 } = greeting.metadata
  return request(effects.put, keysOf(greeting).put, { id: uid, generation, text: greeting.spec?.text ?? '' })
}

function timeLeft({ metadata, spec }: Greeting, nowMs: number): number | undefined {
  if (typeof spec?.ttlSeconds !== 'number') return undefined
  return Date.parse(metadata.creationTimestamp ?? '') + spec.ttlSeconds * 1000 - nowMs
}

/** Its ConfigMaps for people it no longer greets. */
export function surplusOf(greeting: Greeting, children: readonly KubeObject[]): KubeObject[] {
  const names = new Set(peopleOf(greeting).map((person) => childOf(greeting, person).metadata.name))
  return children.filter((child) => isChildOf(greeting, child) && !names.has(child.metadata.name))
}

/** Each person once, in a fixed order. */
const peopleOf = ({ spec }: Greeting): string[] => [...new Set(spec?.to ?? [])].sort()

const isChildOf = (greeting: Greeting, child: KubeObject): boolean =>
  child.metadata.ownerReferences?.some(({ uid }) => uid === greeting.metadata.uid) === true

/** The same greeting and person give the same name: a repeated creation finds the first. */
export function childOf({ metadata, spec }: Greeting, person: string): KubeObject {
  const { name = '', namespace, uid = '' } = metadata
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: childName(`${name}-`, uid, person),
      namespace,
      ownerReferences: [{ ...OWNER, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    data: { to: person, text: spec?.text ?? '' },
  }
}

/** Written last: by then what it says is true. */
function statusChange(greeting: Greeting, observed: Observed, delivered: number): Action[] {
  const { generation } = greeting.metadata
  const isPosted = observed.put?.state === 'done' || greeting.status?.postedGeneration === generation
  const ready = readiness(greeting, observed, isPosted)
  const conditions = setCondition(greeting.status?.conditions, { ...ready, observedGeneration: generation }, formatTime(observed.nowMs))
  const postedGeneration = isPosted ? generation : greeting.status?.postedGeneration
  const countedOn = ready.status === 'True' ? observed.card?.metadata.uid : undefined
  const status = {
    observedGeneration: generation,
    delivered,
    ...(postedGeneration === undefined ? {} : { postedGeneration }),
    ...(countedOn === undefined ? {} : { countedOn }),
    conditions,
  }
  if (deepEqual(status, greeting.status ?? {})) return []
  const wasReady = greeting.status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') === true
  const events =
    ready.status === 'True' && !wasReady
      ? { of: greeting, type: 'Normal' as const, reason: 'Greeted', message: `${delivered} people have been greeted` }
      : undefined
  return [
    { do: 'patch', resource: GREETINGS, of: greeting, patch: { status: { countedOn: null, ...status } }, subresource: 'status', events },
  ]
}

/** Counted in its current generation: a card that has not seen the last change may be about to drop what it counted before. */
const isSame = ({ uid, generation }: Use, { metadata }: Greeting): boolean => uid === metadata.uid && generation === metadata.generation

function readiness(greeting: Greeting, { card, put }: Observed, isPosted: boolean): Condition {
  const { card: name } = greeting.spec ?? {}
  const waiting = (reason: string, message: string): Condition => ({ type: 'Ready', status: 'False', reason, message })
  if (name !== undefined && card === undefined) return waiting('CardMissing', `there is no card ${name}`)
  if (name !== undefined && !card?.status?.usedBy?.some((use) => isSame(use, greeting)))
    return waiting('NotCounted', `card ${name} does not count this greeting yet`)
  if (!isPosted) return waiting('NotPosted', put?.state === 'failed' ? put.message : 'the notice is not on the board yet')
  return { type: 'Ready', status: 'True', reason: 'Greeted', message: 'everybody has it' }
}
