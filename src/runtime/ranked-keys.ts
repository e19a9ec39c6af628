/** Keys that are ready, highest rank first and ties in order of arrival: a set per rank, for few ranks and many keys. */
export interface RankedKeys {
  readonly size: number
  has(key: string): boolean
  add(key: string, at: { rank: number; sinceMs: number }): void
  /** Since when it was in the set; undefined when it was not. */
  remove(key: string): number | undefined
  first(): string | undefined
  clear(): void
}

export function createRankedKeys(): RankedKeys {
  const keys = new Map<string, { rank: number; sinceMs: number }>()
  const byRank = new Map<number, Set<string>>()
  /** Ascending. */
  let ranks: number[] = []

  return {
    get size() {
      return keys.size
    },
    has: (key) => keys.has(key),
    add(key, at) {
      this.remove(key)
      keys.set(key, at)
      const equals = byRank.get(at.rank)
      if (equals !== undefined) {
        equals.add(key)
        return
      }
      byRank.set(at.rank, new Set([key]))
      ranks = [...ranks, at.rank].sort((a, b) => a - b)
    },
    remove(key) {
      const at = keys.get(key)
      if (at === undefined) return undefined
      keys.delete(key)
      const equals = byRank.get(at.rank)
      equals?.delete(key)
      if (equals?.size === 0) {
        byRank.delete(at.rank)
        ranks = ranks.filter((rank) => rank !== at.rank)
      }
      return at.sinceMs
    },
    first() {
      const highest = ranks[ranks.length - 1]
      if (highest === undefined) return undefined
      for (const key of byRank.get(highest) ?? []) return key
      return undefined
    },
    clear() {
      keys.clear()
      byRank.clear()
      ranks = []
    },
  }
}
