/** Callbacks that wait for a revision to become visible. They run in a microtask, never inside the caller's stack. */
interface Waiter {
  readonly revision: number
  readonly callback: () => void
}

export class RevisionWaiters {
  readonly #waiting = new Set<Waiter>()
  #lowest = Number.POSITIVE_INFINITY

  add(revision: number, callback: () => void, current: number): () => void {
    const waiter: Waiter = { revision, callback }
    this.#waiting.add(waiter)
    if (revision <= current) this.#release([waiter])
    else this.#lowest = Math.min(this.#lowest, revision)
    return () => void this.#waiting.delete(waiter)
  }

  reached(revision: number): void {
    if (revision < this.#lowest) return
    const due: Waiter[] = []
    this.#lowest = Number.POSITIVE_INFINITY
    for (const waiter of this.#waiting) {
      if (waiter.revision <= revision) due.push(waiter)
      else this.#lowest = Math.min(this.#lowest, waiter.revision)
    }
    this.#release(due)
  }

  close(): void {
    this.#waiting.clear()
  }

  #release(due: readonly Waiter[]): void {
    // Still in the set until it runs, so that cancelling works to the last moment.
    queueMicrotask(() => {
      for (const waiter of due) if (this.#waiting.delete(waiter)) waiter.callback()
    })
  }
}
