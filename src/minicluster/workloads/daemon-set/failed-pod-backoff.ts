/**
 * When a failed daemon pod may be replaced: the first at once, the next on the same node after a second, then two, four, …
 * up to 15 minutes. Kept in memory as in kube-controller-manager: after a restart it starts over.
 */
export interface FailedPodBackoff {
  /**
   * How long until this pod may be deleted (0: now). `place` is the set and the node; asking again about the same pod
   * changes nothing.
   */
  waitMs(place: string, podUid: string, nowMs: number): number
}

const INITIAL_MS = 1000
const MAX_MS = 15 * 60_000

interface Entry {
  delayMs: number
  sinceMs: number
  /** The pod whose deletion it was last advanced for. */
  podUid: string
}

export function createFailedPodBackoff(): FailedPodBackoff {
  /** Oldest first. */
  const entries = new Map<string, Entry>()

  function forgetOld(nowMs: number): void {
    for (const [place, { sinceMs }] of entries) {
      if (nowMs - sinceMs <= 2 * MAX_MS) return
      entries.delete(place)
    }
  }

  return {
    waitMs(place, podUid, nowMs) {
      forgetOld(nowMs)
      const entry = entries.get(place)
      if (entry?.podUid === podUid) return 0
      const leftMs = entry === undefined ? 0 : entry.sinceMs + entry.delayMs - nowMs
      if (leftMs > 0) return leftMs
      entries.delete(place)
      entries.set(place, { delayMs: entry === undefined ? INITIAL_MS : Math.min(entry.delayMs * 2, MAX_MS), sinceMs: nowMs, podUid })
      return 0
    },
  }
}
