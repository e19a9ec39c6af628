/**
 * One written value of one key. Its text is kept for as long as the version can be read; the parsed object is made on
 * first use, deeply frozen, and kept in a cache that is bounded by count and by bytes for the whole store.
 */
import { type ByteText, readUtf8 } from '../../base/byte-text.ts'
import { deepFreeze } from '../../base/json.ts'
import type { Version } from '../store.ts'

export interface VersionFields {
  key: string
  revision: number
  createRevision: number
  text: ByteText
  isTombstone: boolean
}

export class VersionRecord implements Version {
  readonly key: string
  readonly revision: number
  readonly createRevision: number
  readonly text: ByteText
  /** The key was deleted here; `text` is its last value, rewritten with the revision of the deletion. */
  readonly isTombstone: boolean
  /** What this version replaced, while the history window still holds it. */
  older: VersionRecord | undefined = undefined
  /** Used by the cache: the parsed value (JSON has no undefined), and whether it was used since the cache last checked. */
  parsed: unknown = undefined
  wasUsed = false
  readonly #cache: ParsedCache

  constructor(fields: VersionFields, cache: ParsedCache) {
    this.key = fields.key
    this.revision = fields.revision
    this.createRevision = fields.createRevision
    this.text = fields.text
    this.isTombstone = fields.isTombstone
    this.#cache = cache
  }

  object(): unknown {
    return this.#cache.read(this)
  }

  glance(): unknown {
    return this.parsed ?? parse(this)
  }
}

const parse = (record: VersionRecord): unknown => JSON.parse(readUtf8(record.text))

/** First in, first out, with a second chance for entries used in the meantime: a hit costs one assignment. */
export class ParsedCache {
  readonly #maxCount: number
  readonly #maxBytes: number
  #queue: VersionRecord[] = []
  #head = 0
  #bytes = 0

  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount
    this.#maxBytes = maxBytes
  }

  get count(): number {
    return this.#queue.length - this.#head
  }

  read(record: VersionRecord): unknown {
    if (record.parsed !== undefined) {
      record.wasUsed = true
      return record.parsed
    }
    const value = parse(record)
    this.keep(record, value)
    return value
  }

  /** Freezes the value and remembers it as the record's. */
  keep(record: VersionRecord, value: unknown): void {
    record.parsed = deepFreeze(value)
    record.wasUsed = false
    this.#bytes += record.text.length
    this.#queue.push(record)
    while (this.count > this.#maxCount || (this.#bytes > this.#maxBytes && this.count > 1)) this.#evictOne()
  }

  #evictOne(): void {
    for (;;) {
      const oldest = this.#queue[this.#head] as VersionRecord
      this.#head++
      if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
        this.#queue = this.#queue.slice(this.#head)
        this.#head = 0
      }
      if (!oldest.wasUsed) {
        oldest.parsed = undefined
        this.#bytes -= oldest.text.length
        return
      }
      oldest.wasUsed = false
      this.#queue.push(oldest)
    }
  }
}
