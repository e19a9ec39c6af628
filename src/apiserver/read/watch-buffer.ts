/** What a watcher has not taken yet, within bounds. The sink's own buffering is respected: when it is full, lines wait here. */
import type { ByteSink } from '../http.ts'

export interface WatchBuffer {
  send(line: Uint8Array): void
}

export function createWatchBuffer(sink: ByteSink, bounds: { maxBytes: number; maxEvents: number; onOverflow: () => void }): WatchBuffer {
  /** Lines from `next` on wait; what is before it has been taken. */
  let waiting: Uint8Array[] = []
  let next = 0
  let waitingBytes = 0
  let isBlocked = false
  let isOver = false

  const write = (line: Uint8Array): void => {
    if (sink.write(line)) return
    isBlocked = true
    sink.onDrain(drain)
  }
  const drain = (): void => {
    isBlocked = false
    while (!isBlocked && next < waiting.length) {
      const line = waiting[next++] as Uint8Array
      waitingBytes -= line.length
      write(line)
    }
    if (next === waiting.length) {
      waiting = []
      next = 0
    }
  }
  return {
    send(line) {
      if (isOver) return
      if (!isBlocked) return write(line)
      waiting.push(line)
      waitingBytes += line.length
      if (waiting.length - next <= bounds.maxEvents && waitingBytes <= bounds.maxBytes) return
      isOver = true
      waiting = []
      next = 0
      bounds.onOverflow()
    },
  }
}
