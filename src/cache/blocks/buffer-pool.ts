/** Buffers for reading files, used again: a new one for each piece of a block would keep the garbage collector busy. */
const BUFFER_BYTES = 256 * 1024
/** More than these are left to the garbage collector when they come back. */
const MOST_KEPT = 32

export class BufferPool {
  readonly #free: Buffer[] = []

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
  }

  give(buffer: Buffer): void {
    if (this.#free.length < MOST_KEPT) this.#free.push(buffer)
  }
}
