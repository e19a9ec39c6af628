/**
 * How long we wait for somebody else. Only time spent waiting counts: a reader that is slow to take bytes does not make the
 * sender look slow.
 */
import type { Clock } from '../../../base/clock.ts'
import type { WebTimes } from '../limits.ts'

interface Wait {
  clock: Clock
  ms: number
  signal: AbortSignal
  /** The message when the time is over. */
  what: string
}

/** Runs `work` with a signal that aborts when the outer one does or the time is over; rejects with the reason. */
export async function within<T>({ clock, ms, signal, what }: Wait, work: (ended: AbortSignal) => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const ended = new AbortController()
  const onAbort = () => ended.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const cancel = clock.after(ms, () => ended.abort(new Error(`${what} for ${ms / 1000} s`)))
  try {
    return await work(ended.signal)
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error
  } finally {
    cancel()
    signal.removeEventListener('abort', onAbort)
  }
}

interface Body {
  body: AsyncIterable<Uint8Array> & { destroy(error?: Error): unknown }
  signal: AbortSignal
  clock: Clock
  times: WebTimes
  what: string
}

/** The body, until it ends, breaks, stands still or trickles. Leaving it early closes the connection. */
export async function* withProgress({ body, signal, clock, times, what }: Body): AsyncGenerator<Uint8Array, void> {
  const parts = body[Symbol.asyncIterator]()
  let waitedMs = 0
  let bytes = 0
  try {
    for (;;) {
      const from = clock.now()
      const leftMs = times.totalMs - waitedMs
      const wait =
        leftMs < times.idleMs
          ? { ms: leftMs, what: `${what} is too slow and sent nothing` }
          : { ms: times.idleMs, what: `${what} sent nothing` }
      const part = await nextOf(parts, { clock, signal, ...wait })
      if (part.done) return
      waitedMs += clock.now() - from
      bytes += part.value.length
      const isSlow = waitedMs >= times.graceMs && (bytes * 1000) / waitedMs < times.leastBytesPerSecond
      if (isSlow || waitedMs >= times.totalMs) throw new Error(`${what} is too slow: ${bytes} bytes in ${Math.round(waitedMs / 1000)} s`)
      yield part.value
    }
  } finally {
    body.destroy()
  }
}

function nextOf(parts: AsyncIterator<Uint8Array>, wait: Wait): Promise<IteratorResult<Uint8Array>> {
  return within(wait, (ended) => {
    const aborted = new Promise<never>((_, reject) => {
      ended.addEventListener('abort', () => reject(ended.reason), { once: true })
    })
    const next = parts.next()
    // Whichever loses the race may still reject, and nobody listens to it then.
    next.catch(() => {})
    return Promise.race([next, aborted])
  })
}
