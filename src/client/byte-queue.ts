/** Bytes between a producer and a consumer that reads them later; says how many are waiting, so the producer can pause. */
export interface ByteQueue extends AsyncIterable<Uint8Array> {
  /** Bytes that wait to be read. */
  readonly bytes: number
  push(chunk: Uint8Array): void
  /** Nothing more will come; what is queued can still be read. */
  end(): void
}

/** `onRead` is called whenever something was taken. */
export function createByteQueue(onRead: () => void): ByteQueue {
  const chunks: Uint8Array[] = []
  let bytes = 0
  let isEnded = false
  let wake: (() => void) | undefined
  async function* read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = chunks.shift()
      if (chunk !== undefined) {
        bytes -= chunk.length
        onRead()
        yield chunk
      } else if (isEnded) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }
  return {
    get bytes() {
      return bytes
    },
    push(chunk) {
      if (isEnded || chunk.length === 0) return
      chunks.push(chunk)
      bytes += chunk.length
      wake?.()
    },
    end() {
      isEnded = true
      wake?.()
    },
    [Symbol.asyncIterator]: () => read(),
  }
}
