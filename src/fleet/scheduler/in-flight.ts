/**
 * What has been decided but does not show in the clusters yet: it is subtracted from the capacity they report, so that
 * decisions in quick succession do not use the same capacity twice. Derived from the bindings, so that a restart loses only
 * a little precision: a decision is in flight to a cluster until the cluster has reported, after the decision, that the
 * workload is healthy, and its reported capacity is known to include it; or until the binding leaves the cluster, is
 * deleted, or was last scheduled too long ago. State: about 1 KiB per binding that was scheduled recently.
 */
import { deepEqual } from '../../base/json.ts'
import type { AggregatedStatusItem, Binding, TargetCluster } from '../../kinds/karmada/index.ts'
import type { Demand } from './demand.ts'
import { type Footprint, footprintOfComponents, footprintOfReplicas } from './estimator.ts'

/** Karmada's value: for workloads that start slowly, or never report that they are healthy. */
export const IN_FLIGHT_MS = 5 * 60_000

/** A binding in one cluster, in replicas, or in whole sets of components. */
interface Part {
  readonly all: number
  readonly pending: number
  /** What the cluster had reported when it was last given more: only later reports reflect the decision. */
  readonly reportedBefore: AggregatedStatusItem | undefined
  /** It is healthy there, but the cluster's reported capacity may not include it yet. */
  readonly isUncounted: boolean
}

interface Entry {
  readonly unit: Footprint
  readonly parts: ReadonlyMap<string, Part>
  readonly untilMs: number
  /** For a decision that the cache does not show yet: the generation the binding will have, and the entry before it. */
  readonly awaited?: { readonly generation: number; readonly before: Entry | undefined }
}

interface Total {
  pods: number
  readonly amounts: Map<string, number>
  bindings: number
}

export class InFlightIndex {
  readonly #entries = new Map<string, Entry>()
  readonly #totals = new Map<string, Total>()
  readonly #byEnd = new Map<number, Set<string>>()
  /** Bindings that wait to be counted, by cluster. */
  readonly #uncounted = new Map<string, Set<string>>()
  readonly #isCurrent: (cluster: string) => boolean

  /** `isCurrent`: whether the capacity that a cluster reports includes everything known about it. */
  constructor(isCurrent: (cluster: string) => boolean = () => true) {
    this.#isCurrent = isCurrent
  }

  /** What is in flight to a cluster; call `expire` first. */
  readonly of = (cluster: string): Footprint | undefined => this.#totals.get(cluster)

  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  /** A decision was made, which the binding will contain from this generation on. */
  decided(
    key: string,
    demand: Demand,
    { clusters, generation, nowMs }: { clusters: readonly TargetCluster[]; generation: number; nowMs: number },
  ): void {
    if (!demand.isWorkload || clusters.length === 0) {
      this.#put(key, undefined)
      return
    }
    const before = this.#entries.get(key)
    // What exists and is not in flight has arrived. Components that are scheduled again are in flight again.
    const known = demand.components.length > 0 ? undefined : (before?.parts ?? arrived(demand))
    const parts = new Map<string, Part>()
    for (const target of clusters)
      parts.set(target.name, grown(known?.get(target.name) ?? NEW, countOf(demand, target), reportedBy(demand, target)))
    this.#put(key, { unit: unitOf(demand), parts, untilMs: nowMs + IN_FLIGHT_MS, awaited: { generation, before } })
  }

  /** The binding as the cache has it. Returns the clusters that have more capacity now. */
  follow(key: string, binding: Binding | undefined, demand: Demand | undefined, nowMs: number): string[] {
    if (binding === undefined || demand === undefined) return this.#put(key, undefined)
    const old = this.#entries.get(key)
    if (old?.awaited !== undefined && isStillAwaited(binding, old.awaited.generation) && nowMs < old.untilMs) return []
    return this.#put(key, this.#derived(binding, { demand, old, nowMs }))
  }

  /** A binding is about to be scheduled: an earlier decision that it does not contain was never written, and uses no capacity. */
  forgetUnwritten(key: string, binding: Binding, demand: Demand, nowMs: number): void {
    const { awaited } = this.#entries.get(key) ?? {}
    if (awaited !== undefined) this.#put(key, this.#derived(binding, { demand, old: awaited.before, nowMs }))
  }

  /** The capacity that this cluster reports has changed, or may have. Returns whether something is no longer in flight to it. */
  count(cluster: string): boolean {
    const keys = this.#uncounted.get(cluster)
    if (keys === undefined || !this.#isCurrent(cluster)) return false
    for (const key of [...keys]) {
      const entry = this.#entries.get(key) as Entry
      this.#put(key, { ...entry, parts: new Map(entry.parts).set(cluster, here(entry.parts.get(cluster) as Part)) })
    }
    return true
  }

  /** Removes what has lasted too long, and what has been counted meanwhile. */
  expire(nowMs: number): void {
    for (const [end, keys] of this.#byEnd) if (end * 1000 <= nowMs) for (const key of [...keys]) this.#put(key, undefined)
    for (const cluster of [...this.#uncounted.keys()]) this.count(cluster)
  }

  /** When the next of them expires. */
  nextEndMs(): number | undefined {
    let next: number | undefined
    for (const [end, keys] of this.#byEnd)
      if ((next === undefined || end < next) && [...keys].some((key) => isPending(this.#entries.get(key) as Entry))) next = end
    return next === undefined ? undefined : next * 1000
  }

  #derived(binding: Binding, { demand, old, nowMs }: { demand: Demand; old: Entry | undefined; nowMs: number }): Entry | undefined {
    const { lastScheduledTime } = binding.status ?? {}
    const sinceMs = lastScheduledTime === undefined ? nowMs : Math.min(nowMs, Date.parse(lastScheduledTime))
    const untilMs = sinceMs + IN_FLIGHT_MS
    if (!(untilMs > nowMs) || !demand.isWorkload || demand.clusters.length === 0) return undefined
    const parts = new Map<string, Part>()
    for (const target of demand.clusters) {
      const reported = reportedBy(demand, target)
      const part = grown(old?.parts.get(target.name) ?? NEW, countOf(demand, target), old === undefined ? undefined : reported)
      const isWell = part.pending > 0 && reported?.health === 'Healthy' && !deepEqual(reported, part.reportedBefore)
      parts.set(target.name, isWell ? (this.#isCurrent(target.name) ? here(part) : { ...part, isUncounted: true }) : part)
    }
    return { unit: unitOf(demand), parts, untilMs }
  }

  #put(key: string, entry: Entry | undefined): string[] {
    const old = this.#entries.get(key)
    if (old !== undefined) this.#account(key, old, -1)
    if (entry === undefined) this.#entries.delete(key)
    else {
      this.#entries.set(key, entry)
      this.#account(key, entry, 1)
    }
    if (old === undefined) return []
    return [...old.parts.keys()].filter((cluster) => isLess(footprintIn(entry, cluster), footprintIn(old, cluster)))
  }

  #account(key: string, entry: Entry, sign: 1 | -1): void {
    noteIn(this.#byEnd, Math.ceil(entry.untilMs / 1000), key, sign)
    for (const [cluster, { pending, isUncounted }] of entry.parts) {
      if (isUncounted) noteIn(this.#uncounted, cluster, key, sign)
      if (pending === 0) continue
      const total = this.#totals.get(cluster) ?? { pods: 0, amounts: new Map(), bindings: 0 }
      total.bindings += sign
      total.pods += sign * pending * entry.unit.pods
      for (const [resource, amount] of entry.unit.amounts)
        total.amounts.set(resource, (total.amounts.get(resource) ?? 0) + sign * pending * amount)
      if (total.bindings === 0) this.#totals.delete(cluster)
      else this.#totals.set(cluster, total)
    }
  }
}

const NEW: Part = { all: 0, pending: 0, reportedBefore: undefined, isUncounted: false }

/** An increase is in flight; a decrease removes what has arrived first. */
function grown(part: Part, all: number, reported: AggregatedStatusItem | undefined): Part {
  if (all <= part.all) return { ...part, all, pending: Math.min(all, part.pending) }
  return { all, pending: part.pending + all - part.all, reportedBefore: reported, isUncounted: false }
}

const here = (part: Part): Part => ({ ...part, pending: 0, isUncounted: false })

const arrived = (demand: Demand): ReadonlyMap<string, Part> =>
  new Map(demand.clusters.map((target) => [target.name, { ...NEW, all: countOf(demand, target) }]))

const countOf = ({ components }: Demand, { replicas = 0 }: TargetCluster): number => (components.length > 0 ? 1 : replicas)

const unitOf = (demand: Demand): Footprint =>
  demand.components.length > 0 ? footprintOfComponents(demand) : footprintOfReplicas(demand, 1)

const reportedBy = ({ reported }: Demand, { name }: TargetCluster): AggregatedStatusItem | undefined =>
  reported.find(({ clusterName }) => clusterName === name)

const isPending = ({ parts }: Entry): boolean => [...parts.values()].some(({ pending }) => pending > 0)

/** Until the status of the decision is there, too: only then is it known when it was made. */
const isStillAwaited = ({ metadata, status }: Binding, generation: number): boolean =>
  (metadata.generation ?? 0) <= generation && status?.schedulerObservedGeneration !== generation

const footprintIn = (entry: Entry | undefined, cluster: string): { count: number; unit: Footprint | undefined } => ({
  count: entry?.parts.get(cluster)?.pending ?? 0,
  unit: entry?.unit,
})

type Counted = ReturnType<typeof footprintIn>

function isLess(now: Counted, was: Counted): boolean {
  if (was.unit === undefined) return false
  const pods = ({ count, unit }: Counted): number => count * (unit?.pods ?? 0)
  const amount = ({ count, unit }: Counted, resource: string): number => count * (unit?.amounts.get(resource) ?? 0)
  return pods(now) < pods(was) || [...was.unit.amounts.keys()].some((resource) => amount(now, resource) < amount(was, resource))
}

function noteIn<K>(sets: Map<K, Set<string>>, where: K, key: string, sign: 1 | -1): void {
  const keys = sets.get(where) ?? new Set()
  if (sign > 0) sets.set(where, keys.add(key))
  else if (keys.delete(key) && keys.size === 0) sets.delete(where)
}
