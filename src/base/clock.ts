/** Time as a value. The real one is wired in main.ts; worlds bring a virtual one. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** With fractions, to measure short times; only differences are meaningful. Absent: `now`. */
  preciseMs?(): number
  /** Calls back once after `delayMs`; the returned function cancels it. Callbacks never run synchronously. */
  after(delayMs: number, callback: () => void): () => void
  /** The same time, but nobody waits for its timers: heartbeats, attempts to reach what is gone. Absent: this clock. */
  readonly background?: Clock
  /**
   * Lets the event loop turn, which chained promises alone never do. Undefined when it turned just now. Absent: there is
   * nothing else to run.
   */
  yieldIfDue?(): Promise<void> | undefined
}

/** Resolves after `delayMs`, or at once (and early) when the signal aborts. Never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const cancel = clock.after(delayMs, done)
    const onAbort = () => {
      cancel()
      done()
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    function done(): void {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }
  })
}

/** RFC 3339 in UTC with whole seconds, the form of metav1.Time. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== lastFormatted.second) {
    lastFormatted.second = second
    lastFormatted.text = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`
  }
  return lastFormatted.text
}

/** Thousands of writes carry the same second: the last text is cached, which callers cannot observe. */
const lastFormatted = { second: Number.NaN, text: '' }
