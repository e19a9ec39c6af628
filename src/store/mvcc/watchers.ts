/**
 * The watchers of new events, indexed by bucket. A watcher has a position, the last revision it was offered, so that an
 * event reaches it once and in order even when watchers start and stop while an event is being delivered.
 */
import type { StoreEvent, WatchOptions } from '../store.ts'

interface Watcher {
  readonly prefix: string
  readonly options: WatchOptions
  position: number
}

const EVERY_BUCKET = ''

export class Watchers {
  readonly #byBucket = new Map<string, Set<Watcher>>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Delivers `backlog` immediately, and later events as they come. */
  add(prefix: string, options: WatchOptions, backlog: readonly StoreEvent[]): () => void {
    const bucket = prefix.slice(0, Math.max(0, prefix.indexOf('/')))
    const watcher: Watcher = { prefix, options, position: options.after }
    const group = this.#byBucket.get(bucket) ?? new Set<Watcher>()
    this.#byBucket.set(bucket, group)
    group.add(watcher)
    const stop = () => {
      group.delete(watcher)
      if (group.size === 0 && this.#byBucket.get(bucket) === group) this.#byBucket.delete(bucket)
    }
    for (const event of backlog) {
      if (!group.has(watcher)) break
      this.#offer(group, watcher, event)
    }
    return stop
  }

  dispatch(event: StoreEvent, bucket: string): void {
    this.#dispatchTo(this.#byBucket.get(bucket), event)
    this.#dispatchTo(this.#byBucket.get(EVERY_BUCKET), event)
  }

  close(): void {
    const watchers = [...this.#byBucket.values()].flatMap((group) => [...group])
    this.#byBucket.clear()
    for (const { options } of watchers) options.onClose?.()
  }

  #dispatchTo(group: Set<Watcher> | undefined, event: StoreEvent): void {
    if (group === undefined) return
    for (const watcher of group) this.#offer(group, watcher, event)
  }

  #offer(group: Set<Watcher>, watcher: Watcher, event: StoreEvent): void {
    if (event.revision <= watcher.position) return
    watcher.position = event.revision
    if (!event.key.startsWith(watcher.prefix)) return
    try {
      watcher.options.onEvent(event)
    } catch (error) {
      // One broken watcher must not keep the event from the others or the writer: it alone ends, and the fault is reported.
      group.delete(watcher)
      this.#onError(error)
      watcher.options.onClose?.()
    }
  }
}
