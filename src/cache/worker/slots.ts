/** A bounded number of places with a bounded number of bytes; the first who asks is the first to get one. */
export class Slots {
  readonly #most: number
  readonly #mostBytes: number
  #taken = 0
  #takenBytes = 0
  readonly #queue: { bytes: number; begin: () => void }[] = []

  constructor(most: number, mostBytes: number) {
    this.#most = most
    this.#mostBytes = mostBytes
  }

  /** Resolves to what gives the place back. One alone always fits. Rejects when the signal aborts before its turn. */
  take(bytes: number, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const entry = { bytes, begin }
      const abort = () => {
        this.#queue.splice(this.#queue.indexOf(entry), 1)
        reject(new Error('the worker ends'))
      }
      if (signal.aborted) return reject(new Error('the worker ends'))
      signal.addEventListener('abort', abort, { once: true })
      function begin(this: void): void {
        signal.removeEventListener('abort', abort)
        resolve(giveBack)
      }
      let isBack = false
      const giveBack = () => {
        if (isBack) return
        isBack = true
        this.#taken--
        this.#takenBytes -= bytes
        this.#next()
      }
      this.#queue.push(entry)
      this.#next()
    })
  }

  #next(): void {
    for (let first = this.#queue[0]; first !== undefined; first = this.#queue[0]) {
      const fits = this.#taken < this.#most && this.#takenBytes + first.bytes <= this.#mostBytes
      if (this.#taken > 0 && !fits) return
      this.#queue.shift()
      this.#taken++
      this.#takenBytes += first.bytes
      first.begin()
    }
  }
}
