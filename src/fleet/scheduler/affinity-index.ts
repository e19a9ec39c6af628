/**
 * The affinities of bindings that follow every change of clusters, each stored once however many bindings have it: a
 * changed cluster is matched against the affinities, not against the bindings. State: one entry per distinct affinity.
 */
import type { Binding } from '../../kinds/karmada/index.ts'
import type { ClusterInfo } from './cluster-info.ts'
import type { Demand, Term } from './demand.ts'
import { isAlwaysDecided, isOurs } from './necessity.ts'

/** The term in use: changes of a cluster matter only if the term matches it. */
function termInUse({ terms, observedTerm, hasNamedTerms }: Demand): Term | undefined {
  return hasNamedTerms ? terms.find(({ name }) => name === observedTerm) : terms[0]
}

/** Equal for bindings that the same clusters matter to; undefined for those that changes of clusters do not affect. */
export function affinityKey(binding: Binding, demand: Demand, schedulerName: string): string | undefined {
  if (!isOurs(binding, schedulerName) || !isAlwaysDecided(demand)) return undefined
  const { placement, observedTerm, hasNamedTerms, isWorkload } = demand
  const affinity = hasNamedTerms
    ? placement.clusterAffinities?.find(({ affinityName }) => affinityName === observedTerm)
    : placement.clusterAffinity
  return `${isWorkload ? 'w' : 'o'}${JSON.stringify(affinity ?? null)}`
}

interface Entry {
  readonly isMeant: (info: ClusterInfo) => boolean
  bindings: number
}

export class AffinityIndex {
  readonly #entries = new Map<string, Entry>()
  readonly #ofBinding = new Map<string, string>()

  follow(key: string, affinity: string | undefined, demand: Demand | undefined): void {
    const old = this.#ofBinding.get(key)
    if (old === affinity) return
    if (old !== undefined) this.#leave(key, old)
    if (affinity === undefined || demand === undefined) return
    this.#ofBinding.set(key, affinity)
    const entry = this.#entries.get(affinity) ?? { isMeant: matching(demand), bindings: 0 }
    entry.bindings++
    this.#entries.set(affinity, entry)
  }

  /** The affinities that match one of these clusters. */
  matching(...clusters: readonly (ClusterInfo | undefined)[]): string[] {
    const found: string[] = []
    for (const [affinity, { isMeant }] of this.#entries)
      if (clusters.some((info) => info !== undefined && isMeant(info))) found.push(affinity)
    return found
  }

  #leave(key: string, affinity: string): void {
    this.#ofBinding.delete(key)
    const entry = this.#entries.get(affinity)
    if (entry !== undefined && --entry.bindings === 0) this.#entries.delete(affinity)
  }
}

function matching(demand: Demand): (info: ClusterInfo) => boolean {
  const term = termInUse(demand)
  if (term === undefined) return () => true
  return (info) => term.isPrimary(info) || term.overflow?.some((matches) => matches(info)) === true
}
