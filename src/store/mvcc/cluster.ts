/**
 * One logical cluster: its own revision sequence, its buckets, its history window, its watchers and its writes in
 * flight. The first revision of an empty cluster is 1, as in etcd; the first write makes 2.
 * Everything here is synchronous and in memory; the `CommitLog` decides what is durable.
 */
import type { Clock } from '../../base/clock.ts'
import {
  type ClusterStore,
  type CommitRequest,
  type CommitResult,
  CompactedError,
  FutureRevisionError,
  type RangeOptions,
  type RangeResult,
  type WatchOptions,
} from '../store.ts'
import { Bucket } from './bucket.ts'
import { EventLog, type HistoryEvent, type HistoryLimits } from './history.ts'
import { type Attempt, type CommitLog, isMet, type PendingWrite } from './pending.ts'
import { RevisionWaiters } from './revision-waiters.ts'
import { type ParsedCache, type VersionFields, VersionRecord } from './version.ts'
import { Watchers } from './watchers.ts'

export interface ClusterContext {
  readonly clock: Clock
  readonly history: HistoryLimits
  readonly cache: ParsedCache
  readonly log: CommitLog
  /** A watcher's callback threw, which its contract forbids. */
  onWatcherError(error: unknown): void
}

interface Flight extends PendingWrite {
  readonly losers: Attempt[]
}

const FIRST_REVISION = 1
const MAX_KEY_LENGTH = 4096

export class ClusterCore implements ClusterStore {
  readonly name: string
  readonly #context: ClusterContext
  readonly #buckets = new Map<string, Bucket>()
  readonly #events = new EventLog()
  readonly #watchers: Watchers
  readonly #waiters = new RevisionWaiters()
  /** The newest write in flight of each key. */
  readonly #inFlight = new Map<string, Flight>()
  #revision = FIRST_REVISION
  #oldestRevision = FIRST_REVISION
  /** The newest revision assigned to a write, durable or in flight. */
  #ordered = FIRST_REVISION
  #liveBytes = 0

  constructor(name: string, context: ClusterContext) {
    this.name = name
    this.#context = context
    this.#watchers = new Watchers(context.onWatcherError)
  }

  get revision(): number {
    return this.#revision
  }

  get oldestRevision(): number {
    return this.#oldestRevision
  }

  /** Bytes of all live values. */
  get liveBytes(): number {
    return this.#liveBytes
  }

  get(key: string, revision?: number): VersionRecord | undefined {
    const bucket = this.#buckets.get(bucketOf(key))
    if (revision === undefined || revision === this.#revision) return bucket?.get(key)
    this.#mustBeReadable(revision)
    return bucket?.getAt(key, revision)
  }

  range(prefix: string, options: RangeOptions = {}): RangeResult {
    const bucket = this.#buckets.get(bucketOf(prefix))
    if (options.revision !== undefined) this.#mustBeReadable(options.revision)
    const revision = options.revision ?? this.#revision
    const page = bucket?.page(prefix, options) ?? { versions: [], remaining: 0 }
    return { ...page, revision, more: page.remaining > 0 }
  }

  count(prefix: string): number {
    if (prefix === '') return [...this.#buckets.values()].reduce((sum, bucket) => sum + bucket.liveCount, 0)
    const name = bucketOf(prefix)
    const bucket = this.#buckets.get(name)
    return bucket === undefined ? 0 : prefix.length === name.length + 1 ? bucket.liveCount : bucket.count(prefix)
  }

  buckets(): string[] {
    const names: string[] = []
    for (const [name, bucket] of this.#buckets) if (bucket.liveCount > 0) names.push(name)
    return names.sort()
  }

  commit(request: CommitRequest): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      mustBeKey(request.key)
      this.#attempt({ request, resolve, reject })
    })
  }

  watch(prefix: string, options: WatchOptions): () => void {
    const bucket = prefix === '' ? undefined : bucketOf(prefix)
    // While nothing has been compacted, revision 0 and the first revision mean the same.
    const isBelow = options.after < this.#oldestRevision && this.#oldestRevision > FIRST_REVISION
    if (isBelow) throw new CompactedError(options.after, this.#oldestRevision)
    const log = bucket === undefined ? this.#events : this.#buckets.get(bucket)?.log
    return this.#watchers.add(prefix, options, log?.after(options.after) ?? [])
  }

  whenRevision(revision: number, callback: () => void): () => void {
    return this.#waiters.add(revision, callback, this.#revision)
  }

  compact(revision: number): void {
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision)
    for (let event = this.#events.oldest; event !== undefined && event.revision <= revision; event = this.#events.oldest)
      this.#forgetOldest()
    this.#oldestRevision = Math.max(this.#oldestRevision, revision)
  }

  close(): void {
    this.#watchers.close()
    this.#waiters.close()
  }

  /** Starts where a snapshot ended: this is the newest revision, and nothing before it can be read. */
  resetTo(revision: number): void {
    this.#revision = revision
    this.#oldestRevision = revision
    this.#ordered = revision
  }

  /** A live value of the snapshot. */
  load(fields: VersionFields): void {
    this.#liveBytes += fields.text.length
    this.#bucket(bucketOf(fields.key)).load(new VersionRecord(fields, this.#context.cache))
  }

  /** A change that is already durable. Its revision must be the next one. */
  replay(fields: VersionFields, at: number): void {
    this.#ordered = fields.revision
    this.#apply(new VersionRecord(fields, this.#context.cache), at)
  }

  #attempt(attempt: Attempt): void {
    const { request } = attempt
    const rival = this.#inFlight.get(request.key)
    const current = rival === undefined ? this.get(request.key) : rival.version.isTombstone ? undefined : rival.version
    if (!isMet(request, current)) {
      if (rival === undefined) attempt.resolve({ ok: false, current })
      else rival.losers.push(attempt)
      return
    }
    try {
      this.#order(attempt, current)
    } catch (error) {
      attempt.reject(error)
    }
  }

  #order(attempt: Attempt, current: VersionRecord | undefined): void {
    const { key, type, encode } = attempt.request
    const revision = this.#ordered + 1
    const { text, object } = encode(revision)
    if (this.#ordered + 1 !== revision) throw new Error('encode must not commit')
    const createRevision = current?.createRevision ?? revision
    const fields = { key, revision, createRevision, text, isTombstone: type === 'delete' }
    const version = new VersionRecord(fields, this.#context.cache)
    const flight: Flight = {
      cluster: this.name,
      version,
      at: this.#context.clock.now(),
      losers: [],
      publish: () => {
        if (object !== undefined) this.#context.cache.keep(version, object)
        this.#publish(flight, attempt)
      },
      abort: (error) => this.#abort(flight, attempt, error),
    }
    this.#context.log.append(flight)
    this.#ordered = revision
    this.#inFlight.set(key, flight)
  }

  #publish(flight: Flight, attempt: Attempt): void {
    const { version } = flight
    if (this.#inFlight.get(version.key) === flight) this.#inFlight.delete(version.key)
    const previous = this.#apply(version, flight.at)
    attempt.resolve({ ok: true, version, previous })
    for (const loser of flight.losers) loser.resolve({ ok: false, current: version.isTombstone ? undefined : version })
  }

  #abort(flight: Flight, attempt: Attempt, error: Error): void {
    const { key, revision } = flight.version
    if (this.#inFlight.get(key) === flight) this.#inFlight.delete(key)
    this.#ordered = Math.min(this.#ordered, revision - 1)
    attempt.reject(error)
    // Not immediately: writes ordered after this one are about to be aborted as well, and must be gone first.
    if (flight.losers.length > 0) queueMicrotask(() => flight.losers.forEach((loser) => void this.#attempt(loser)))
  }

  #apply(version: VersionRecord, at: number): VersionRecord | undefined {
    const { key, revision } = version
    if (revision !== this.#revision + 1) throw new Error(`revision ${revision} of ${this.name} cannot follow ${this.#revision}`)
    const name = bucketOf(key)
    const bucket = this.#bucket(name)
    const previous = bucket.get(key)
    const event: HistoryEvent = { revision, key, type: version.isTombstone ? 'delete' : 'put', version, previous, at }
    bucket.apply(event)
    this.#events.append(event)
    this.#liveBytes += (version.isTombstone ? 0 : version.text.length) - (previous?.text.length ?? 0)
    this.#revision = revision
    while (this.#events.mustForget(this.#context.history, at)) this.#forgetOldest()
    this.#watchers.dispatch(event, name)
    this.#waiters.reached(revision)
    return previous
  }

  #forgetOldest(): void {
    const event = this.#events.shift()
    if (event === undefined) return
    const name = bucketOf(event.key)
    const bucket = this.#bucket(name)
    bucket.forget(event)
    if (bucket.isEmpty) this.#buckets.delete(name)
    this.#oldestRevision = event.revision
  }

  #bucket(name: string): Bucket {
    let bucket = this.#buckets.get(name)
    if (bucket === undefined) {
      bucket = new Bucket()
      this.#buckets.set(name, bucket)
    }
    return bucket
  }

  #mustBeReadable(revision: number): void {
    if (revision < this.#oldestRevision) throw new CompactedError(revision, this.#oldestRevision)
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision)
  }
}

function bucketOf(key: string): string {
  const slash = key.indexOf('/')
  if (slash <= 0) throw new TypeError(`a key or prefix begins with a bucket and a slash: ${JSON.stringify(key.slice(0, 100))}`)
  return key.slice(0, slash)
}

/** Keys are written to disk as UTF-8: a lone surrogate would come back as another key. */
function mustBeKey(key: string): void {
  bucketOf(key)
  if (key.length > MAX_KEY_LENGTH) throw new TypeError(`a key has at most ${MAX_KEY_LENGTH} characters, not ${key.length}`)
  if (/\p{Surrogate}/u.test(key)) throw new TypeError('a key must be well-formed Unicode')
}
