/**
 * The events of a cluster or of one bucket inside the history window, in revision order: appended at the end, dropped
 * from the front. `mustForget` decides what the window keeps, from count, age and the bytes of old values.
 */
import type { StoreEvent } from '../store.ts'
import type { VersionRecord } from './version.ts'

export interface HistoryEvent extends StoreEvent {
  readonly version: VersionRecord
  readonly previous: VersionRecord | undefined
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number
}

export interface HistoryLimits {
  /** Kept whatever their age, unless a maximum below says otherwise. Default 10,000 events per cluster. */
  minEvents: number
  /** Kept when younger than this. Default 5 minutes. */
  minAgeMs: number
  /** Never more than this. Default 100,000 events per cluster. */
  maxEvents: number
  /** Never more bytes of replaced and deleted values than this. Default 64 MiB per cluster. */
  maxBytes: number
}

export const DEFAULT_HISTORY: HistoryLimits = {
  minEvents: 10_000,
  minAgeMs: 5 * 60_000,
  maxEvents: 100_000,
  maxBytes: 64 * 1024 * 1024,
}

export class EventLog {
  #events: HistoryEvent[] = []
  #head = 0
  /** Bytes retained only for history: replaced values, and the last values of deleted keys. */
  #bytes = 0

  get size(): number {
    return this.#events.length - this.#head
  }

  get oldest(): HistoryEvent | undefined {
    return this.#events[this.#head]
  }

  get newest(): HistoryEvent | undefined {
    return this.#events[this.#events.length - 1]
  }

  append(event: HistoryEvent): void {
    this.#events.push(event)
    this.#bytes += costOf(event)
  }

  shift(): HistoryEvent | undefined {
    const event = this.#events[this.#head]
    if (event === undefined) return undefined
    this.#head++
    this.#bytes -= costOf(event)
    // Freed in steps, so that forgetting stays cheap per event.
    if (this.#head > 512 && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head)
      this.#head = 0
    }
    return event
  }

  mustForget(limits: HistoryLimits, now: number): boolean {
    const oldest = this.oldest
    if (oldest === undefined) return false
    if (this.size > limits.maxEvents || this.#bytes > limits.maxBytes) return true
    return this.size > limits.minEvents && now - oldest.at > limits.minAgeMs
  }

  /** The events after a revision, as of now. */
  after(revision: number): HistoryEvent[] {
    let low = this.#head
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#events[middle] as HistoryEvent).revision <= revision) low = middle + 1
      else high = middle
    }
    return this.#events.slice(low)
  }
}

function costOf(event: HistoryEvent): number {
  return (event.previous?.text.length ?? 0) + (event.type === 'delete' ? event.version.text.length : 0)
}
