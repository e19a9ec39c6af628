/** What the suite needs from an implementation, and the helpers its cases are written with. */

import assert from 'node:assert/strict'
import { utf8Of } from '../base/byte-text.ts'
import type { Clock } from '../base/clock.ts'
import type { HistoryLimits } from './mvcc/history.ts'
import type { ClusterStore, CommitRequest, Store, StoreEvent, Version } from './store.ts'

export interface SuiteOptions {
  clock?: Clock
  history?: Partial<HistoryLimits>
  parsedObjects?: number
  onWatcherError?(error: unknown): void
}

export interface StoreUnderTest {
  store: Store
  /** From now on writes stay in flight. */
  hold(): void
  /** Writes in flight become durable, and later ones do again. Resolves when they are. */
  release(): Promise<void>
  /** Writes in flight fail as on a full disk, and later ones succeed again. */
  fail(): Promise<void>
}

export interface StoreHarness {
  open(options?: SuiteOptions): Promise<StoreUnderTest>
}

/** A clock that advances only on request. */
export function manualClock(start = 1_000_000): Clock & { advance(ms: number): void } {
  let now = start
  let timers: { at: number; callback: () => void }[] = []
  return {
    now: () => now,
    after: (delayMs, callback) => {
      const timer = { at: now + delayMs, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((t) => t !== timer)
      }
    },
    advance: (ms) => {
      now += ms
      const due = timers.filter((t) => t.at <= now)
      timers = timers.filter((t) => t.at > now)
      for (const timer of due) timer.callback()
    },
  }
}

/** A value that carries its own revision, as objects of the API do. */
export function valueAt(content: unknown): CommitRequest['encode'] {
  return (revision) => ({ text: utf8Of(JSON.stringify({ rv: revision, content })) })
}

export function contentOf(version: Version | undefined): unknown {
  return version === undefined ? undefined : (version.object() as { content: unknown }).content
}

export async function put(cluster: ClusterStore, key: string, content: unknown, expect: CommitRequest['expect'] = 'any'): Promise<Version> {
  const result = await cluster.commit({ key, expect, type: 'put', encode: valueAt(content) })
  assert.ok(result.ok, `put ${key} was refused`)
  return result.version
}

export async function remove(cluster: ClusterStore, key: string, expect: CommitRequest['expect'] = 'any'): Promise<Version> {
  const current = contentOf(cluster.get(key))
  const result = await cluster.commit({ key, expect, type: 'delete', encode: valueAt(current) })
  assert.ok(result.ok, `delete ${key} was refused`)
  return result.version
}

/** A watcher that records what it saw. */
export function record(cluster: ClusterStore, prefix: string, after: number): { events: StoreEvent[]; closed: number; stop: () => void } {
  const seen = { events: [] as StoreEvent[], closed: 0, stop: () => {} }
  seen.stop = cluster.watch(prefix, {
    after,
    onEvent: (event) => seen.events.push(event),
    onClose: () => {
      seen.closed++
    },
  })
  return seen
}

export function brief(events: readonly StoreEvent[]): string[] {
  return events.map((e) => `${e.revision} ${e.type} ${e.key}`)
}

export function keys(versions: readonly Version[]): string[] {
  return versions.map((v) => v.key)
}
