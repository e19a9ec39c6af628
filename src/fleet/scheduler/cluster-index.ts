/**
 * All clusters as the scheduler sees them, updated from the cache one change at a time, and what a change can mean for
 * bindings. State: a few KiB per cluster; clusters that serve the same kinds share the list of them.
 */
import { deepEqual } from '../../base/json.ts'
import type { Cluster } from '../../kinds/karmada/index.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { type ClusterInfo, infoOf } from './cluster-info.ts'

/** What changed about a cluster; undefined if it cannot matter to any binding. */
export interface ClusterChange {
  readonly before: ClusterInfo | undefined
  readonly after: ClusterInfo | undefined
  /** It is being deleted, or gone. */
  readonly isLost: boolean
  /** It may match other bindings now: it is new, or its labels, location or taints changed. */
  readonly isDifferent: boolean
  /** It serves other kinds than before. */
  readonly servesOthers: boolean
  /** `groupVersion/Kind` it did not serve before. */
  readonly gainedApis: readonly string[]
  /** It has more of something than before. */
  readonly hasMore: boolean
}

export class ClusterIndex {
  readonly #info = new Map<string, ClusterInfo>()
  #sorted: readonly ClusterInfo[] | undefined
  /** The cluster whose list of kinds the next one may share. */
  #last: ClusterInfo | undefined

  /** In the order of their names. A returned list is never changed. */
  get clusters(): readonly ClusterInfo[] {
    this.#sorted ??= [...this.#info.values()].sort((a, b) => compareStrings(a.name, b.name))
    return this.#sorted
  }

  get(name: string): ClusterInfo | undefined {
    return this.#info.get(name)
  }

  isGone = (name: string): boolean => this.#info.get(name)?.isDeleting !== false

  /** Takes over the cluster of this name from the cache; undefined when nothing changed. */
  follow(name: string, cluster: Cluster | undefined): ClusterChange | undefined {
    const before = this.#info.get(name)
    if (before?.cluster === cluster) return undefined
    if (cluster === undefined) {
      this.#info.delete(name)
      this.#sorted = undefined
      return { before, after: undefined, isLost: true, isDifferent: false, servesOthers: false, gainedApis: [], hasMore: false }
    }
    const after = infoOf(cluster, before, this.#last)
    this.#info.set(name, after)
    this.#last = after
    this.#sorted = undefined
    return changeOf(before, after)
  }
}

function changeOf(before: ClusterInfo | undefined, after: ClusterInfo): ClusterChange {
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

function hasMore({ capacity: before }: ClusterInfo, { capacity: after }: ClusterInfo): boolean {
  if (after === undefined) return false
  if (before === undefined || after.pods > before.pods) return true
  for (const [resource, amount] of after.free) if (amount > (before.free.get(resource) ?? 0)) return true
  return false
}
