/** What a watcher has not taken yet, within bounds. The sink's own buffering is respected: when it is full, lines wait here. */
import type { ByteSink } from '../http.ts'

export interface WatchBuffer {
  send(line: Uint8Array): void
}

export function createWatchBuffer(sink: ByteSink, bounds: { maxBytes: number; maxEvents: number; onOverflow: () => void }): WatchBuffer {
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  let isBlocked = false
  let isOver = false

  const drain = (): void => {
    isBlocked = false
    const lines = waiting
    waiting = []
    waitingBytes = 0
    for (const line of lines) send(line)
  }
  const send = (line: Uint8Array): void => {
    if (isOver) return
    if (!isBlocked) {
      if (!sink.write(line)) {
        isBlocked = true
        sink.onDrain(drain)
      }
      return
    }
    waiting.push(line)
    waitingBytes += line.length
    if (waiting.length > bounds.maxEvents || waitingBytes > bounds.maxBytes) {
      isOver = true
      waiting = []
      bounds.onOverflow()
    }
  }
  return { send }
}
