/**
 * All clusters as the scheduler sees them, kept up with the cache one change at a time, and what a change can mean for
 * bindings. State: a few KiB per cluster; clusters that serve the same kinds share the list of them.
 */
import { deepEqual } from '../../base/json.ts'
import type { Cluster } from '../../kinds/karmada/index.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { type ClusterFacts, factsOf } from './cluster-facts.ts'

/** What is new about a cluster; undefined where nothing can matter to anybody. */
export interface ClusterChange {
  readonly before: ClusterFacts | undefined
  readonly after: ClusterFacts | undefined
  /** It is going or gone. */
  readonly isLost: boolean
  /** Which bindings it fits may be different: it is new, or its labels, place or taints changed. */
  readonly isDifferent: boolean
  /** Other kinds than before. */
  readonly servesOthers: boolean
  /** `groupVersion/Kind` it did not serve before. */
  readonly gainedApis: readonly string[]
  /** It has more of something than before. */
  readonly hasMore: boolean
}

export class ClusterBook {
  readonly #facts = new Map<string, ClusterFacts>()
  #sorted: readonly ClusterFacts[] | undefined
  /** Whose list of kinds the next cluster may share. */
  #last: ClusterFacts | undefined

  /** In the order of their names. Never changed once it is given away. */
  get clusters(): readonly ClusterFacts[] {
    this.#sorted ??= [...this.#facts.values()].sort((a, b) => compareStrings(a.name, b.name))
    return this.#sorted
  }

  get(name: string): ClusterFacts | undefined {
    return this.#facts.get(name)
  }

  isGone = (name: string): boolean => this.#facts.get(name)?.isDeleting !== false

  /** The cluster of this name as the cache has it; undefined when nothing is new. */
  follow(name: string, cluster: Cluster | undefined): ClusterChange | undefined {
    const before = this.#facts.get(name)
    if (before?.cluster === cluster) return undefined
    if (cluster === undefined) {
      this.#facts.delete(name)
      this.#sorted = undefined
      return { before, after: undefined, isLost: true, isDifferent: false, servesOthers: false, gainedApis: [], hasMore: false }
    }
    const after = factsOf(cluster, before, this.#last)
    this.#facts.set(name, after)
    this.#last = after
    this.#sorted = undefined
    return changeOf(before, after)
  }
}

function changeOf(before: ClusterFacts | undefined, after: ClusterFacts): ClusterChange {
  if (before === undefined)
    return { before, after, isLost: after.isDeleting, isDifferent: true, servesOthers: true, gainedApis: [], hasMore: true }
  return {
    before,
    after,
    isLost: after.isDeleting && !before.isDeleting,
    isDifferent:
      before.cluster.metadata.uid !== after.cluster.metadata.uid ||
      !deepEqual(before.cluster.metadata.labels, after.cluster.metadata.labels) ||
      !deepEqual(before.cluster.spec, after.cluster.spec),
    servesOthers: before.apis !== after.apis,
    gainedApis: before.apis === after.apis ? [] : [...after.apis].filter((api) => !before.apis.has(api)),
    hasMore: hasMore(before, after),
  }
}

function hasMore({ capacity: before }: ClusterFacts, { capacity: after }: ClusterFacts): boolean {
  if (after === undefined) return false
  if (before === undefined || after.pods > before.pods) return true
  for (const [resource, amount] of after.free) if (amount > (before.free.get(resource) ?? 0)) return true
  return false
}
