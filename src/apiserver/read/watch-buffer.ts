/**
 * What a watcher has not received yet, within bounds. The sink's own buffering is respected: when it is full, lines wait here.
 * What is known beforehand (state, history) is pulled as the sink accepts it, and is never buffered here.
 */
import type { ByteSink } from '../../kube/http.ts'

export interface WatchBuffer {
  send(line: Uint8Array): void
  /** Sends all of `source`, generated line by line as the receiver accepts it, before anything that is sent later; then calls `done`. */
  pull(source: Iterator<Uint8Array>, done: () => void): void
  /** Nothing more is written. */
  close(): void
}

export function createWatchBuffer(sink: ByteSink, bounds: { maxBytes: number; maxEvents: number; onOverflow: () => void }): WatchBuffer {
  let pulled: { source: Iterator<Uint8Array>; done: () => void } | undefined
  /** Lines from `next` on are waiting; those before it have been sent. */
  let waiting: Uint8Array[] = []
  let next = 0
  let waitingBytes = 0
  let isBlocked = false
  let isClosed = false

  const write = (line: Uint8Array): void => {
    if (sink.write(line)) return
    isBlocked = true
    sink.onDrain(() => {
      isBlocked = false
      flush()
    })
  }
  const flush = (): void => {
    while (!isBlocked && pulled !== undefined) {
      const { source, done } = pulled
      const line = source.next()
      if (line.done === true) {
        pulled = undefined
        done()
      } else write(line.value)
    }
    while (!isBlocked && next < waiting.length) {
      const line = waiting[next++] as Uint8Array
      waitingBytes -= line.length
      write(line)
    }
    if (next === waiting.length) forget()
  }
  const forget = (): void => {
    waiting = []
    next = 0
    waitingBytes = 0
  }
  const close = (): void => {
    isClosed = true
    pulled = undefined
    forget()
  }
  return {
    send(line) {
      if (isClosed) return
      if (!isBlocked && pulled === undefined) return write(line)
      waiting.push(line)
      waitingBytes += line.length
      if (waiting.length - next <= bounds.maxEvents && waitingBytes <= bounds.maxBytes) return
      close()
      bounds.onOverflow()
    },
    pull(source, done) {
      if (isClosed) return
      pulled = { source, done }
      flush()
    },
    close,
  }
}
