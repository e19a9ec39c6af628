/**
 * What has been decided and is not to be seen in the clusters yet: it is taken off what they say they have, so that
 * decisions in quick succession do not give the same room away twice. Derived from the bindings, so that a restart loses
 * nothing: a binding is on its way to a cluster until it is healthy there, leaves it, is deleted, or was last scheduled too
 * long ago. Only between a decision and its arrival in the cache it is remembered. State: about 1 KiB per binding on its way.
 */
import type { Binding, TargetCluster } from '../../kinds/karmada/index.ts'
import type { Demand } from './demand.ts'
import { type Footprint, footprintOfComponents, footprintOfReplicas } from './estimator.ts'

/** Karmada's: for what starts slowly, or never says that it is well. */
export const IN_FLIGHT_MS = 5 * 60_000

interface Entry {
  readonly footprints: ReadonlyMap<string, Footprint>
  readonly untilMs: number
  /** Of a decision that the cache does not show yet: the generation the binding will have. */
  readonly awaited?: number
}

interface Total {
  pods: number
  readonly amounts: Map<string, number>
  bindings: number
}

export class InFlightBook {
  readonly #entries = new Map<string, Entry>()
  readonly #totals = new Map<string, Total>()
  readonly #byEnd = new Map<number, Set<string>>()

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
    const entry = entryOf(demand, clusters, nowMs + IN_FLIGHT_MS)
    this.#put(key, entry === undefined ? undefined : { ...entry, awaited: generation })
  }

  /** The binding as the cache has it. Returns the clusters that have more room now. */
  follow(key: string, binding: Binding | undefined, demand: Demand | undefined, nowMs: number): string[] {
    const old = this.#entries.get(key)
    if (binding === undefined || demand === undefined) return this.#put(key, undefined)
    if (old?.awaited !== undefined && isStillAwaited(binding, old.awaited) && nowMs < old.untilMs) return []
    return this.#put(key, derived(binding, demand, nowMs))
  }

  /** A binding is to be decided about: what was decided before and is not in it was never written, and takes no room. */
  forgetUnwritten(key: string, binding: Binding, demand: Demand, nowMs: number): void {
    if (this.#entries.get(key)?.awaited !== undefined) this.#put(key, derived(binding, demand, nowMs))
  }

  /** Ends what has lasted too long. */
  expire(nowMs: number): void {
    for (const [end, keys] of this.#byEnd) if (end * 1000 <= nowMs) for (const key of [...keys]) this.#put(key, undefined)
  }

  /** When the next of them ends by itself. */
  nextEndMs(): number | undefined {
    let next: number | undefined
    for (const end of this.#byEnd.keys()) if (next === undefined || end < next) next = end
    return next === undefined ? undefined : next * 1000
  }

  #put(key: string, entry: Entry | undefined): string[] {
    const old = this.#entries.get(key)
    if (old !== undefined) this.#count(key, old, -1)
    if (entry === undefined) this.#entries.delete(key)
    else {
      this.#entries.set(key, entry)
      this.#count(key, entry, 1)
    }
    return old === undefined
      ? []
      : [...old.footprints].filter(([name, was]) => isLess(entry?.footprints.get(name), was)).map(([name]) => name)
  }

  #count(key: string, { footprints, untilMs }: Entry, sign: 1 | -1): void {
    const end = Math.ceil(untilMs / 1000)
    const keys = this.#byEnd.get(end) ?? new Set()
    if (sign > 0) this.#byEnd.set(end, keys.add(key))
    else if (keys.delete(key) && keys.size === 0) this.#byEnd.delete(end)
    for (const [cluster, { pods, amounts }] of footprints) {
      const total = this.#totals.get(cluster) ?? { pods: 0, amounts: new Map(), bindings: 0 }
      total.bindings += sign
      total.pods += sign * pods
      for (const [resource, amount] of amounts) total.amounts.set(resource, (total.amounts.get(resource) ?? 0) + sign * amount)
      if (total.bindings === 0) this.#totals.delete(cluster)
      else this.#totals.set(cluster, total)
    }
  }
}

/** Until the status of the decision is there, too: only then it is known when it was made. */
const isStillAwaited = ({ metadata, status }: Binding, generation: number): boolean =>
  (metadata.generation ?? 0) <= generation && status?.schedulerObservedGeneration !== generation

function derived(binding: Binding, demand: Demand, nowMs: number): Omit<Entry, 'awaited'> | undefined {
  const { lastScheduledTime, aggregatedStatus = [] } = binding.status ?? {}
  const sinceMs = lastScheduledTime === undefined ? nowMs : Math.min(nowMs, Date.parse(lastScheduledTime))
  if (!(sinceMs + IN_FLIGHT_MS > nowMs)) return undefined
  const healthy = new Set(aggregatedStatus.filter(({ health }) => health === 'Healthy').map(({ clusterName }) => clusterName))
  return entryOf(
    demand,
    demand.clusters.filter(({ name }) => !healthy.has(name)),
    sinceMs + IN_FLIGHT_MS,
  )
}

function entryOf(demand: Demand, clusters: readonly TargetCluster[], untilMs: number): Omit<Entry, 'awaited'> | undefined {
  if (!demand.isWorkload || clusters.length === 0) return undefined
  const whole = demand.components.length > 0 ? footprintOfComponents(demand) : undefined
  const footprints = clusters.map(({ name, replicas }) => [name, whole ?? footprintOfReplicas(demand, replicas ?? 0)] as const)
  return { footprints: new Map(footprints), untilMs }
}

function isLess(now: Footprint | undefined, was: Footprint): boolean {
  if (now === undefined || now.pods < was.pods) return true
  for (const [resource, amount] of was.amounts) if ((now.amounts.get(resource) ?? 0) < amount) return true
  return false
}
