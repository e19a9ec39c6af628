/**
 * What has been decided and is not to be seen in the clusters yet: it is taken off what they say they have, so that
 * decisions in quick succession do not give the same capacity away twice. Derived from the bindings, so that a restart loses
 * nothing but a little precision: what was decided is on its way to a cluster until the cluster has said, after the decision,
 * that all is well there, and what the cluster says it has is known to count it; or until it leaves the cluster, is deleted,
 * or was last scheduled too long ago. State: about 1 KiB per binding that was scheduled lately.
 */
import { deepEqual } from '../../base/json.ts'
import type { AggregatedStatusItem, Binding, TargetCluster } from '../../kinds/karmada/index.ts'
import type { Demand } from './demand.ts'
import { type Footprint, footprintOfComponents, footprintOfReplicas } from './estimator.ts'

/** Karmada's: for what starts slowly, or never says that it is well. */
export const IN_FLIGHT_MS = 5 * 60_000

/** A binding in one cluster, in replicas, or in whole sets of components. */
interface Part {
  readonly all: number
  readonly pending: number
  /** What the cluster said of it when it was last given more: only what it says after that reflects the decision. */
  readonly reportedBefore: AggregatedStatusItem | undefined
  /** All is well there, but what the cluster says it has may not count it yet. */
  readonly isUncounted: boolean
}

interface Entry {
  readonly unit: Footprint
  readonly parts: ReadonlyMap<string, Part>
  readonly untilMs: number
  /** Of a decision that the cache does not show yet: the generation the binding will have, and what was so before. */
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

  /** `isCurrent`: whether all that is known of a cluster is in what it says it has. */
  constructor(isCurrent: (cluster: string) => boolean = () => true) {
    this.#isCurrent = isCurrent
  }

  /** On its way to a cluster; to be asked after `expire`. */
  readonly of = (cluster: string): Footprint | undefined => this.#totals.get(cluster)

  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  /** A decision was made that the binding will have with this generation. */
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
    // What is there and not on its way has arrived. Components that are decided about anew come anew.
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

  /** A binding is to be decided about: what was decided before and is not in it was never written, and takes no capacity. */
  forgetUnwritten(key: string, binding: Binding, demand: Demand, nowMs: number): void {
    const { awaited } = this.#entries.get(key) ?? {}
    if (awaited !== undefined) this.#put(key, this.#derived(binding, { demand, old: awaited.before, nowMs }))
  }

  /** What this cluster says it has is new, or may be. Whether something is no longer on its way to it. */
  count(cluster: string): boolean {
    const keys = this.#uncounted.get(cluster)
    if (keys === undefined || !this.#isCurrent(cluster)) return false
    for (const key of [...keys]) {
      const entry = this.#entries.get(key) as Entry
      this.#put(key, { ...entry, parts: new Map(entry.parts).set(cluster, here(entry.parts.get(cluster) as Part)) })
    }
    return true
  }

  /** Ends what has lasted too long, and what has been counted meanwhile. */
  expire(nowMs: number): void {
    for (const [end, keys] of this.#byEnd) if (end * 1000 <= nowMs) for (const key of [...keys]) this.#put(key, undefined)
    for (const cluster of [...this.#uncounted.keys()]) this.count(cluster)
  }

  /** When the next of them ends by itself. */
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

/** What is more than before is on its way; what is less was on its way last. */
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

/** Until the status of the decision is there, too: only then it is known when it was made. */
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
