/**
 * What the scheduler keeps between passes, all of it derived: prepared clusters, prepared bindings, what is in flight, and
 * the distinct affinities. A restart rebuilds it from the caches.
 */
import type { Binding, Cluster } from '../../kinds/karmada/index.ts'
import { keyOfRef, type ObjectRef, objectKey } from '../../kube/object-reference.ts'
import type { Decided, FleetMeasures } from '../metrics/measures.ts'
import { AffinityIndex, affinityKey } from './affinity-index.ts'
import { type ClusterChange, ClusterIndex } from './cluster-index.ts'
import { type Decision, readRecord } from './decision.ts'
import { type Demand, demandOf } from './demand.ts'
import { InFlightIndex } from './in-flight.ts'
import { isAlwaysDecided, isOurs, isScaled, isScheduled, mustDecide } from './necessity.ts'
import { changeOf, type Verdict } from './plan.ts'
import { type ScheduleOptions, schedule } from './schedule.ts'

export interface SchedulingOptions extends ScheduleOptions {
  /** Which bindings are ours (default `default-scheduler`). */
  readonly schedulerName?: string
  /** Whether what was decided but does not show yet is subtracted from the capacity of clusters (default true). */
  readonly protectsFromOvercommit?: boolean
  /** Whether the capacity that a cluster reports includes everything known about it at the moment (default: it does). */
  isSummaryCurrent?(cluster: Cluster): boolean
  /** Whether bindings of higher priority come first (default true). */
  readonly ranksByPriority?: boolean
  readonly measures?: Pick<FleetMeasures, 'timed' | 'decided'>
}

interface Look {
  verdict: Verdict
  requeueAfterMs?: number
}

export class Scheduling {
  readonly clusters = new ClusterIndex()
  readonly affinities = new AffinityIndex()
  readonly #inFlight = new InFlightIndex((name) => this.#isSummaryCurrent(name))
  /** Cached objects are frozen: what was prepared from one is valid for as long as it lives. */
  readonly #demands = new WeakMap<Binding, Demand>()
  /** Bindings processed since the start. The others have not seen earlier changes of clusters. */
  readonly #seen = new Map<string, string | undefined>()
  readonly #followed = new Map<string, Binding>()
  readonly #options: SchedulingOptions & { schedulerName: string }

  constructor(options: SchedulingOptions & { schedulerName: string }) {
    this.#options = options
  }

  get #remembers(): boolean {
    return this.#options.protectsFromOvercommit !== false
  }

  followCluster(name: string, cluster: Cluster | undefined): ClusterChange | undefined {
    const change = this.clusters.follow(name, cluster)
    return this.#inFlight.count(name) && change !== undefined ? { ...change, hasMore: true } : change
  }

  #isSummaryCurrent(name: string): boolean {
    const cluster = this.clusters.get(name)?.cluster
    return cluster === undefined || (this.#options.isSummaryCurrent?.(cluster) ?? true)
  }

  /** Returns the clusters that have more capacity now. */
  followBinding(ref: ObjectRef, binding: Binding | undefined, nowMs: number): string[] {
    const key = keyOfRef(ref)
    if (this.#followed.get(key) === binding) return []
    const demand = binding === undefined ? undefined : this.demandOf(binding)
    if (binding === undefined) {
      this.#followed.delete(key)
      this.#seen.delete(key)
    } else this.#followed.set(key, binding)
    this.affinities.follow(key, binding && this.affinitiesThatMatter(binding)[0], demand)
    return this.#remembers ? this.#inFlight.follow(key, binding, demand, nowMs) : []
  }

  /** Undefined when the binding has no placement. */
  demandOf(binding: Binding): Demand | undefined {
    const known = this.#demands.get(binding)
    if (known !== undefined || binding.spec?.placement === undefined) return known
    const demand = demandOf(binding, binding.spec.placement)
    this.#demands.set(binding, demand)
    return demand
  }

  affinitiesThatMatter(binding: Binding): string[] {
    const demand = this.demandOf(binding)
    const key = demand === undefined ? undefined : affinityKey(binding, demand, this.#options.schedulerName)
    return key === undefined ? [] : [key]
  }

  /** The kind of its template, if a cluster that begins to serve it is another possible target. */
  apisThatMatter(binding: Binding): string[] {
    const demand = this.demandOf(binding)
    return demand !== undefined && isAlwaysDecided(demand) ? [demand.api] : []
  }

  /** A status that others changed is no reason to schedule again. */
  isRelevant(binding: Binding): boolean {
    const { metadata, status } = binding
    const isNew = this.#seen.get(objectKey(metadata.namespace, metadata.name)) !== metadata.uid
    return isNew || status?.schedulerObservedGeneration !== metadata.generation || !isScheduled(binding)
  }

  look(ref: ObjectRef, binding: Binding | undefined, nowMs: number): Look {
    if (binding === undefined) return { verdict: { do: 'nothing' } }
    const key = keyOfRef(ref)
    this.#seen.set(key, binding.metadata.uid)
    const demand = this.demandOf(binding)
    if (demand === undefined || !isOurs(binding, this.#options.schedulerName)) return { verdict: { do: 'nothing' } }
    const confirmed = toBeConfirmed(binding)
    if (confirmed !== undefined) return { verdict: confirmed }
    if (!mustDecide(binding, demand, this.clusters.isGone)) return { verdict: { do: 'note' } }
    return this.#decide(key, binding, { demand, nowMs })
  }

  /** The kind of attempt that scheduling a binding is. */
  typeOf(binding: Binding): Decided['type'] {
    const demand = this.demandOf(binding)
    return demand !== undefined && isScaled(binding, demand) ? 'ScaleSchedule' : 'ReconcileSchedule'
  }

  #decide(key: string, binding: Binding, { demand, nowMs }: { demand: Demand; nowMs: number }): Look {
    this.#inFlight.expire(nowMs)
    this.#inFlight.forgetUnwritten(key, binding, demand, nowMs)
    const decision = schedule({ clusters: this.clusters.clusters, inFlight: this.#inFlight.of, nowMs }, demand, this.#options)
    this.#remember(key, binding, { demand, decision, nowMs })
    const isShort = decision.reason === 'Unschedulable' || decision.reason === 'SchedulerError'
    const endMs = !isShort ? undefined : this.#inFlight.nextEndMs()
    return { verdict: { do: 'decide', decision }, ...(endMs === undefined ? {} : { requeueAfterMs: Math.max(0, endMs - nowMs) }) }
  }

  /** The next decision must take this one into account before the cache does. */
  #remember(key: string, binding: Binding, { demand, decision, nowMs }: { demand: Demand; decision: Decision; nowMs: number }): void {
    if (!this.#remembers || decision.clusters === undefined || changeOf(binding, decision)?.isMoved !== true) return
    const generation = (binding.metadata.generation ?? 0) + 1
    this.#inFlight.decided(key, demand, { clusters: decision.clusters, generation, nowMs })
  }
}

/** A decision that is written but not yet in the cache is not made again: with it in flight, the result could differ. */
function toBeConfirmed(binding: Binding): Verdict | undefined {
  const { metadata, status } = binding
  if (status?.schedulerObservedGeneration === metadata.generation) return undefined
  const record = readRecord(metadata.annotations)
  if (record?.reason !== 'Success' || record.generation !== metadata.generation) return undefined
  return { do: 'confirm', affinityName: typeof record.affinityName === 'string' ? record.affinityName : undefined }
}
