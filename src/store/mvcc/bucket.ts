/**
 * The keys of one resource: live ones, those deleted inside the history window, and the events that changed
 * them. Reads at the newest revision touch live keys only; older reads walk back through each key's versions.
 */
import { prefixEnd, SortedMap } from '../../base/sorted-map.ts'
import type { RangeOptions } from '../store.ts'
import { EventLog, type HistoryEvent } from './history.ts'
import type { VersionRecord } from './version.ts'

export class Bucket {
  readonly #live = new SortedMap<VersionRecord>()
  readonly #ended = new SortedMap<VersionRecord>()
  readonly log = new EventLog()

  get liveCount(): number {
    return this.#live.size
  }

  /** It has no live keys and no history. */
  get isEmpty(): boolean {
    return this.#live.size === 0 && this.#ended.size === 0 && this.log.size === 0
  }

  get(key: string): VersionRecord | undefined {
    return this.#live.get(key)
  }

  getAt(key: string, revision: number): VersionRecord | undefined {
    return versionAt(this.#live.get(key) ?? this.#ended.get(key), revision)
  }

  /** A value from a snapshot: it is live, and nothing before it is known. */
  load(version: VersionRecord): void {
    this.#live.set(version.key, version)
  }

  apply(event: HistoryEvent): void {
    const { version, key } = event
    if (version.isTombstone) {
      version.older = event.previous
      this.#live.delete(key)
      this.#ended.set(key, version)
    } else {
      version.older = event.previous ?? this.#ended.get(key)
      this.#live.set(key, version)
      if (event.previous === undefined) this.#ended.delete(key)
    }
    this.log.append(event)
  }

  /** Drops what only reads before this event needed. It must be the oldest event of the bucket. */
  forget(event: HistoryEvent): void {
    event.version.older = undefined
    if (event.version.isTombstone && this.#ended.get(event.key) === event.version) this.#ended.delete(event.key)
    this.log.shift()
  }

  count(prefix: string): number {
    return this.#live.count(prefix, prefixEnd(prefix))
  }

  /** The page of the prefix, as of `options.revision` or, when undefined, as of now. */
  page(prefix: string, options: RangeOptions): { versions: VersionRecord[]; remaining: number } {
    const from = options.after !== undefined && options.after >= prefix ? `${options.after}\0` : prefix
    const to = prefixEnd(prefix)
    const limit = options.limit === undefined || options.limit <= 0 ? Number.POSITIVE_INFINITY : options.limit
    const revision = options.revision
    const isNewest = revision === undefined || (this.log.newest?.revision ?? 0) <= revision
    const versions = isNewest ? this.#live.values(from, to, limit) : this.#valuesAt({ from, to, limit, revision })
    if (versions.length < limit) return { versions, remaining: 0 }
    const rest = `${(versions[versions.length - 1] as VersionRecord).key}\0`
    const living = this.#live.count(rest, to)
    return { versions, remaining: isNewest ? living : living + this.#differenceSince(revision, rest, to) }
  }

  #valuesAt(q: { from: string; to: string | undefined; limit: number; revision: number }): VersionRecord[] {
    const out: VersionRecord[] = []
    const live = this.#live.entries(q.from, q.to)
    const ended = this.#ended.entries(q.from, q.to)
    let a = live.next()
    let b = ended.next()
    while (out.length < q.limit && !(a.done && b.done)) {
      const isLive = !a.done && (b.done || a.value[0] < b.value[0])
      const newest = isLive ? a.value?.[1] : b.value?.[1]
      const found = versionAt(newest, q.revision)
      if (found !== undefined) out.push(found)
      if (isLive) a = live.next()
      else b = ended.next()
    }
    return out
  }

  /** How many more keys (negative: fewer) [from, to) had at `revision` than it has now. */
  #differenceSince(revision: number, from: string, to: string | undefined): number {
    const seen = new Set<string>()
    let difference = 0
    for (const { key, previous } of this.log.after(revision)) {
      if (key < from || (to !== undefined && key >= to) || seen.has(key)) continue
      seen.add(key)
      difference += (previous === undefined ? 0 : 1) - (this.#live.has(key) ? 1 : 0)
    }
    return difference
  }
}

function versionAt(newest: VersionRecord | undefined, revision: number): VersionRecord | undefined {
  let version = newest
  while (version !== undefined && version.revision > revision) version = version.older
  return version === undefined || version.isTombstone ? undefined : version
}
