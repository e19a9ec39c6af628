/**
 * The versioned object store under the API server. Keys are `<bucket>/<namespace>/<name>`, or `<bucket>//<name>` for
 * cluster-scoped objects; a bucket is one resource (`pods`, `deployments.apps`) and contains no slash. Values are JSON
 * texts that already contain their own resourceVersion.
 *
 * Promises of every implementation (specified by `suite.ts`): revisions of a cluster grow by one per change, are never
 * reused or lowered, also across restart and restore; one event, one revision; an acknowledged write is durable before it
 * is visible; readers and watchers see only durable state, in revision order, without gap or duplicate.
 */
import type { ByteText } from '../base/byte-text.ts'
import type { ErrorCode } from '../base/errors/catalogue.ts'

export interface Version {
  readonly key: string
  /** Revision of this write. */
  readonly revision: number
  /** Revision of the write that created the key (since its last deletion, if any). */
  readonly createRevision: number
  /** The value: JSON in UTF-8. */
  readonly text: ByteText
  /** The parsed, deeply frozen value; parsed lazily and kept in a bounded cache. */
  object(): unknown
  /** The same for a single use, not to be changed or kept: what is not in the cache is parsed and not retained. For scans. */
  glance(): unknown
}

export interface StoreEvent {
  readonly revision: number
  readonly key: string
  readonly type: 'put' | 'delete'
  /** For a delete: the last value rewritten with the deletion's revision. */
  readonly version: Version
  readonly previous: Version | undefined
}

/** Makes the value once its revision is known. `object`, when given, seeds the parsed cache and is frozen. */
export type Encode = (revision: number) => { text: ByteText; object?: unknown }

export interface CommitRequest {
  key: string
  /** What the write is based on: a revision, 'absent', or 'any' (no precondition). */
  expect: number | 'absent' | 'any'
  type: 'put' | 'delete'
  encode: Encode
}

export type CommitResult =
  | { ok: true; version: Version; previous: Version | undefined }
  /** The precondition failed; `current` is durable (undefined = absent). */
  | { ok: false; current: Version | undefined }

export interface RangeOptions {
  /** Return keys strictly after this one. */
  after?: string
  limit?: number
  /** Read as of this revision; throws CompactedError below the window, FutureRevisionError above the newest. */
  revision?: number
}

export interface RangeResult {
  versions: Version[]
  /** Revision the range was read at. */
  revision: number
  more: boolean
  /** How many keys of the prefix follow the returned ones (exact). */
  remaining: number
}

export interface WatchOptions {
  /**
   * Events strictly after this revision; those of the past are delivered before `watch` returns. Throws CompactedError
   * below the window. A future revision waits.
   */
  after: number
  /** Called synchronously, in revision order, once the event is durable. Must not throw; must be quick. */
  onEvent(event: StoreEvent): void
  /** The store is closing. No event follows. */
  onClose?(): void
}

/** One logical cluster of the store. */
export interface ClusterStore {
  /** Newest visible revision. */
  readonly revision: number
  /** Oldest revision that can still be read or watched from. */
  readonly oldestRevision: number
  get(key: string, revision?: number): Version | undefined
  /** Keys that start with `prefix`, in key order. `prefix` contains at least the bucket and its `/`. */
  range(prefix: string, options?: RangeOptions): RangeResult
  /** Number of live keys under the prefix, in O(log n) or better for a whole bucket. */
  count(prefix: string): number
  /** Names of buckets that hold at least one live key, sorted. */
  buckets(): string[]
  commit(request: CommitRequest): Promise<CommitResult>
  /** Events of keys that start with `prefix` ('' = all). Returns a function that stops it. */
  watch(prefix: string, options: WatchOptions): () => void
  /** Calls back as soon as the visible revision is at least `revision` (never synchronously). Returns a function that cancels it. */
  whenRevision(revision: number, callback: () => void): () => void
  /** Forgets history up to `revision`. */
  compact(revision: number): void
}

export interface Store {
  /** The cluster of that name, created if absent. Names are DNS labels. */
  cluster(name: string): ClusterStore
  clusterNames(): string[]
  close(): Promise<void>
}

export class CompactedError extends Error {
  readonly requested: number
  readonly oldest: number
  constructor(requested: number, oldest: number) {
    super(`revision ${requested} is older than the history that is kept (from ${oldest})`)
    this.name = 'CompactedError'
    this.requested = requested
    this.oldest = oldest
  }
}

export class FutureRevisionError extends Error {
  readonly requested: number
  readonly current: number
  constructor(requested: number, current: number) {
    super(`revision ${requested} is newer than the newest (${current})`)
    this.name = 'FutureRevisionError'
    this.requested = requested
    this.current = current
  }
}

/** The disk refused a write (full, read-only). Nothing was acknowledged; a later commit may succeed. */
export class StoreUnavailableError extends Error {
  readonly code = 'E_STORE_UNAVAILABLE' satisfies ErrorCode
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StoreUnavailableError'
  }
}
