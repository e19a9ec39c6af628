/** Which clusters an application has been unhealthy in for too long. Pure. */
import { formatTime } from '../../../base/clock.ts'
import { deepEqual, isJsonObject } from '../../../base/json.ts'
import type { ApplicationFailoverBehavior, Binding } from '../../../kinds/karmada/index.ts'
import { EVICTION_PRODUCERS, EVICTION_REASONS } from '../../../kinds/karmada/well-known.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { type Parsed, parsed, unparsed } from '../../../kube/parsed.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Action, type KeyedEvent, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { type Eviction, evict, heldBack, purgeModeOf } from '../eviction.ts'
import type { FailoverGates } from '../options.ts'
import { preservedState } from '../state-preservation.ts'

/** JSON: since when the application is unhealthy, by cluster. */
export const UNHEALTHY_SINCE = 'sluice.dev/unhealthy-since'

export interface ObservedApplication {
  binding: Binding | undefined
  /** Whether the health of its kind can be interpreted. */
  isJudged: boolean
  nowMs: number
}

export const planFor =
  (resource: Resource, gates: FailoverGates) =>
  ({ binding, isJudged, nowMs }: ObservedApplication): Plan => {
    if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
    // Only namespaced objects have dependencies: a cluster-scoped binding has none that could stay behind.
    const followsWhole = !resource.namespaced || binding.spec.propagateDeps === true
    const behavior = isJudged && followsWhole ? binding.spec.failover?.application : undefined
    const before = sinceOf(binding)
    const since = behavior === undefined ? {} : unhealthySince(binding, before, formatTime(nowMs))
    const toleranceMs = (behavior?.decisionConditions?.tolerationSeconds ?? 300) * 1000
    const ends = Object.entries(since).map(([cluster, time]) => ({ cluster, endMs: Date.parse(time) + toleranceMs }))
    const failed = ends.filter(({ endMs }) => endMs < nowMs)
    const nextMs = Math.min(...ends.filter(({ endMs }) => endMs >= nowMs).map(({ endMs }) => endMs), Number.POSITIVE_INFINITY)
    // One millisecond more: the toleration must be exceeded, not just reached.
    const later = Number.isFinite(nextMs) ? { requeueAfterMs: nextMs - nowMs + 1 } : {}
    const evictions = new Map<string, Eviction>()
    const events: KeyedEvent[] = []
    for (const { cluster } of failed) {
      const eviction = behavior === undefined ? undefined : evictionFor(resource, binding, { cluster, behavior, gates })
      if (eviction?.value !== undefined) evictions.set(cluster, eviction.value)
      else if (eviction !== undefined) events.push(heldBack(binding, cluster, eviction.error))
    }
    const actions = evict(resource, binding, evictions, nowMs)
    return { actions: actions.length > 0 ? actions : remembered(resource, binding, { before, since }), events, ...later }
  }

/** Clusters the binding is on and not already leaving, with the time since when it is unhealthy there; Unknown is not unhealthy. */
function unhealthySince({ spec, status }: Binding, before: Since, now: string): Since {
  const isTarget = new Set((spec.clusters ?? []).map(({ name }) => name))
  for (const { fromCluster } of spec.gracefulEvictionTasks ?? []) isTarget.delete(fromCluster)
  const unhealthy = (status?.aggregatedStatus ?? []).filter(
    ({ health, clusterName }) => health === 'Unhealthy' && isTarget.has(clusterName),
  )
  const names = unhealthy.map(({ clusterName }) => clusterName).sort(compareStrings)
  return Object.fromEntries(names.map((name) => [name, before[name] ?? now]))
}

type Since = Readonly<Record<string, string>>

/** What cannot be parsed was not written by us; the count starts over. */
function sinceOf({ metadata }: Binding): Since {
  const text = metadata.annotations?.[UNHEALTHY_SINCE]
  if (text === undefined) return {}
  try {
    const value = JSON.parse(text) as unknown
    if (!isJsonObject(value)) return {}
    return Object.fromEntries(
      Object.entries(value).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string' && !Number.isNaN(Date.parse(entry[1])),
      ),
    )
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

function remembered(resource: Resource, binding: Binding, { before, since }: { before: Since; since: Since }): Action[] {
  const isNone = Object.keys(since).length === 0
  const isWritten = binding.metadata.annotations?.[UNHEALTHY_SINCE] !== undefined
  if (isNone ? !isWritten : deepEqual(before, since)) return []
  const annotations = { [UNHEALTHY_SINCE]: isNone ? null : JSON.stringify(since) }
  return [{ do: 'patch', resource, of: binding, patch: { metadata: { annotations } } }]
}

interface Failed {
  cluster: string
  behavior: ApplicationFailoverBehavior
  gates: FailoverGates
}

function evictionFor(resource: Resource, binding: Binding, { cluster, behavior, gates }: Failed): Parsed<Eviction> {
  const state = preservedState(binding, cluster, gates.StatefulFailoverInjection ? behavior.statePreservation : undefined)
  if (state.error !== undefined) return state
  const purgeMode = purgeModeOf(behavior.purgeMode ?? 'Gracefully')
  if (purgeMode === 'Gracefully' && !gates.GracefulEviction)
    return unparsed(`GracefulEviction featureGate must be enabled when purgeMode is ${purgeMode}`)
  return parsed({
    purgeMode,
    reason: EVICTION_REASONS.applicationFailure,
    producer: resource.namespaced ? EVICTION_PRODUCERS.applicationFailover : EVICTION_PRODUCERS.clusterApplicationFailover,
    ...(purgeMode === 'Gracefully' && behavior.gracePeriodSeconds !== undefined ? { gracePeriodSeconds: behavior.gracePeriodSeconds } : {}),
    ...(purgeMode === 'Never' ? { suppressDeletion: true } : {}),
    ...state.value,
  })
}
