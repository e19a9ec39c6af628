/**
 * The freshness gate: after a write, no new decision is made about the same key until the caches have seen the write, so a
 * decision is never based on the state before it. Waits for the cache itself, without a timer.
 */
import type { Informer } from '../client/cache/informer.ts'
import type { Resource } from '../kube/resource.ts'
import type { Written } from './apply-action.ts'

export interface FreshnessGate {
  wrote(key: string, written: Written): void
  /** Whether the caches have seen all writes for this key; if not, `onFresh` is called once when they have. */
  isOpen(key: string, onFresh: () => void): boolean
  /** Keys that wait for a cache. */
  waiting(): string[]
}

/** `informerOf` finds the cache that has to show a write; undefined for resources that are not followed, or in a member that is gone. */
export function createFreshnessGate(informerOf: (resource: Resource, cluster?: string) => Informer | undefined): FreshnessGate {
  const unseen = new Map<string, Written[]>()
  const waiting = new Set<string>()

  const isSeen = (written: Written): boolean => {
    const informer = informerOf(written.resource, written.cluster)
    return informer === undefined || written.isSeenBy(informer)
  }

  async function wait(key: string, writes: readonly Written[], onFresh: () => void): Promise<void> {
    for (const written of writes) await informerOf(written.resource, written.cluster)?.until(() => isSeen(written))
    waiting.delete(key)
    onFresh()
  }

  return {
    wrote(key, written) {
      const writes = unseen.get(key)
      if (writes === undefined) unseen.set(key, [written])
      else writes.push(written)
    },
    isOpen(key, onFresh) {
      const left = (unseen.get(key) ?? []).filter((written) => !isSeen(written))
      if (left.length === 0) {
        unseen.delete(key)
        return true
      }
      unseen.set(key, left)
      if (!waiting.has(key)) {
        waiting.add(key)
        void wait(key, left, onFresh)
      }
      return false
    },
    waiting: () => [...waiting],
  }
}
