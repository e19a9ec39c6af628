/**
 * Caches that started in the past catch up as from one server that lags behind: event by event in the order of their
 * revisions over all watches, and everything that can run runs in between. Each moment is a state that really existed.
 */
import type { Clock } from '../../base/clock.ts'

interface Follower {
  inner: AsyncIterator<Uint8Array>
  /** Read, not delivered. */
  head?: Uint8Array
  revision: number
  reading?: Promise<IteratorResult<Uint8Array>>
  deliver?: (line: Uint8Array | undefined) => void
}

export class CatchUp {
  readonly #clock: Clock
  readonly #followers = new Set<Follower>()
  #revision: number
  #isOver = false
  #hasBegun = false

  constructor(clock: Clock, revision: number) {
    this.#clock = clock
    this.#revision = revision
  }

  /** How far the lagging server has come; undefined when it has caught up. */
  get revision(): number | undefined {
    return this.#isOver ? undefined : this.#revision
  }

  /** False when it has already begun, or no watch is behind. */
  begin(): boolean {
    if (this.#hasBegun) return false
    this.#hasBegun = true
    this.#read()
    return true
  }

  /** The lines of a watch, held until it is their turn. */
  async *lines(inner: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
    const follower: Follower = { inner, revision: 0 }
    this.#followers.add(follower)
    while (!this.#isOver) {
      const line = await new Promise<Uint8Array | undefined>((resolve) => {
        follower.deliver = resolve
      })
      if (line === undefined) break
      yield line
    }
    for (;;) {
      const next = await (follower.reading ?? inner.next())
      follower.reading = undefined
      if (next.done === true) return
      yield next.value
    }
  }

  /** Every watch reads its next line; a moment later it is known which have one. */
  #read(): void {
    for (const follower of this.#followers) {
      if (follower.reading !== undefined) continue
      follower.reading = follower.inner.next()
      // A watch that ends or breaks has nothing to deliver; its reader sees that when all have caught up.
      const show = (head: IteratorResult<Uint8Array>): void => {
        if (head.done === true) return
        follower.head = head.value
        follower.revision = revisionOf(head.value)
      }
      follower.reading.then(show, () => undefined)
    }
    this.#clock.after(0, () => this.#deliverOldest())
  }

  #deliverOldest(): void {
    const waiting = [...this.#followers].filter(({ head, deliver }) => head !== undefined && deliver !== undefined)
    const [oldest] = waiting.sort((a, b) => a.revision - b.revision)
    if (oldest === undefined) {
      this.#isOver = true
      for (const { deliver } of this.#followers) deliver?.(undefined)
      return
    }
    const { head, deliver } = oldest
    this.#revision = Math.max(this.#revision, oldest.revision)
    Object.assign(oldest, { head: undefined, reading: undefined, deliver: undefined })
    deliver?.(head)
    this.#read()
  }
}

function revisionOf(head: Uint8Array): number {
  const { object } = JSON.parse(Buffer.from(head).toString('utf8')) as {
    object: { metadata?: { resourceVersion?: string } }
  }
  return Number(object.metadata?.resourceVersion ?? 0)
}
