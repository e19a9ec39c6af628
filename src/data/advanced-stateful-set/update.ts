/**
 * Which pods are replaced or updated in place now. Never more than `maxUnavailable` wanted pods are missing or not available
 * because of it; those that are not available anyway come without a price. Pure.
 */
import type { AdvancedStatefulSet } from '../../kinds/fluid/advanced-stateful-set.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { matchesLabels } from '../../kube/selector.ts'
import type { Action, EventIntent } from '../../runtime/controller.ts'
import { readSelector } from '../../runtime/workloads/pod/indexes.ts'
import { isPodTerminal } from '../../runtime/workloads/pod/state.ts'
import { ordinalOf, revisionOf, type Version } from '../../runtime/workloads/stateful-set/identity.ts'
import { isGoing, removal, type Scaled } from '../../runtime/workloads/stateful-set/steps.ts'
import { cannotUpdateInPlace, inPlaceEvents } from './events.ts'
import { changeBetween, inPlacePatch } from './in-place.ts'
import type { Priority, Strategy } from './strategy.ts'

/** On a pod: it is to be deleted, and made again under its ordinal. It chooses nobody for a scale-in. */
export const SPECIFIED_DELETE = 'workload.fluid.io/specified-delete'

export interface UpdateInput {
  set: AdvancedStatefulSet
  strategy: Strategy
  scaled: Scaled
  update: Version
  /** The version of that name; undefined when it no longer exists. */
  versionNamed(name: string): Version | undefined
  isAvailable(pod: Pod): boolean
}

export interface Updated {
  actions: Action[]
  /** What people have to know; it stays true until they change something. */
  events: EventIntent[]
  /** Pods that the actions take to the new revision. */
  leaving: Pod[]
}

/** What may be taken from the pods that are available. */
interface Budget {
  /** Whether this pod may go now; if so, it counts as unavailable from here on. */
  take(pod: Pod): boolean
}

export function updateSteps(input: UpdateInput): Updated {
  const { strategy, scaled } = input
  const budget = budgetOf(input)
  const deleted = specified(input, budget)
  const updated: Updated = { actions: deleted.map((pod) => removal(input.set, pod)), events: [], leaving: [] }
  if (strategy.isOnDelete || strategy.isPaused) return updated
  const isOld = (pod: Pod): boolean =>
    !isGoing(pod) && !isPodTerminal(pod) && !deleted.includes(pod) && revisionOf(pod) !== input.update.name
  const steps = targetsOf(input)
    .filter(isOld)
    .map((pod) => ({ pod, step: stepOf(input, pod) }))
  updated.events.push(...complaints(input, steps))
  if (scaled.isBlocked) return updated
  for (const { pod, step } of steps) {
    if (!('action' in step)) continue
    if (!budget.take(pod)) break
    updated.actions.push(step.action)
    updated.leaving.push(pod)
  }
  return updated
}

type Step = { action: Action } | { why: string }

/** One for each reason, not for each pod. */
function complaints({ set }: UpdateInput, steps: readonly { pod: Pod; step: Step }[]): EventIntent[] {
  const stuck = new Map<string, string[]>()
  for (const { pod, step } of steps) if ('why' in step) stuck.set(step.why, [...(stuck.get(step.why) ?? []), pod.metadata.name ?? ''])
  return [...stuck].map(([why, pods]) => cannotUpdateInPlace(set, pods, why))
}

function budgetOf({ strategy, scaled, isAvailable }: UpdateInput): Budget {
  const { ordinals, replicas } = scaled
  const unavailable = new Set([...replicas.values()].filter((pod) => isGoing(pod) || !isAvailable(pod)))
  // While the set waits for a pod, no other one goes.
  const most = scaled.isBlocked ? 0 : strategy.maxUnavailable
  const missing = ordinals.count - replicas.size
  return {
    take(pod) {
      if (!unavailable.has(pod) && missing + unavailable.size >= most) return false
      unavailable.add(pod)
      return true
    },
  }
}

/** Somebody asked for these, also where the update waits. */
function specified({ scaled }: UpdateInput, budget: Budget): Pod[] {
  return fromTheTop(scaled)
    .filter((pod) => Object.hasOwn(pod.metadata.labels ?? {}, SPECIFIED_DELETE) && !isGoing(pod) && !isPodTerminal(pod))
    .filter((pod) => budget.take(pod))
}

const fromTheTop = ({ replicas }: Scaled): Pod[] => [...replicas.values()].sort((a, b) => ordinalOf(b) - ordinalOf(a))

/** The pods that are to have the new revision, in the order in which they get it. */
function targetsOf({ strategy, scaled, update }: UpdateInput): Pod[] {
  const { partition = 0, unordered } = strategy
  const pods = fromTheTop(scaled)
  if (unordered === undefined) return pods.filter((pod) => scaled.ordinals.indexOf(ordinalOf(pod)) >= partition)
  const isDone = (pod: Pod): boolean => isGoing(pod) || revisionOf(pod) === update.name
  const waiting = pods.filter((pod) => !isDone(pod))
  const left = scaled.ordinals.count - partition - (pods.length - waiting.length)
  return byPriority(waiting, unordered).slice(0, Math.max(0, left))
}

/** By the sum of matching weights, or by the first label of the list that a pod has and the number at its end; ties from the top. */
function byPriority(pods: readonly Pod[], { weightPriority = [], orderPriority = [] }: Priority): Pod[] {
  const weights = weightPriority.map(({ matchSelector, weight }) => ({ selector: readSelector(matchSelector), weight }))
  const rankOf = ({ metadata: { labels = {} } }: Pod): readonly [number, number] => {
    if (weights.length > 0) {
      const fits = weights.filter(({ selector }) => selector !== undefined && matchesLabels(selector, labels))
      return [0, fits.reduce((sum, { weight }) => sum + weight, 0)]
    }
    const level = orderPriority.findIndex(({ orderedKey }) => Object.hasOwn(labels, orderedKey))
    const digits = /[0-9]{1,15}$/.exec(labels[orderPriority[level]?.orderedKey ?? ''] ?? '')?.[0]
    return [level, Number(digits ?? 0)]
  }
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod) }))
  return ranked.sort((a, b) => a.rank[0] - b.rank[0] || b.rank[1] - a.rank[1]).map(({ pod }) => pod)
}

function stepOf({ set, strategy, update, versionNamed }: UpdateInput, pod: Pod): Step {
  if (strategy.podUpdatePolicy === 'ReCreate') return { action: removal(set, pod) }
  const { name = '' } = pod.metadata
  const change = changeBetween(versionNamed(revisionOf(pod))?.template, update.template)
  if (change.isPossible) {
    const patch = inPlacePatch(pod, change, update)
    return { action: { do: 'patch', resource: PODS, of: pod, patch, ...inPlaceEvents(set, name, update.name) } }
  }
  if (strategy.podUpdatePolicy === 'InPlaceIfPossible') return { action: removal(set, pod) }
  return { why: change.why }
}
