/**
 * How long to wait before somebody outside is asked again, who did not answer well and will not say when that changes: twice
 * as long each time, up to a bound. One small entry per binding that fails.
 */
export interface Retries {
  /** Undefined when nothing is to be tried again. */
  afterMs(key: string, hasFailed: boolean): number | undefined
}

const FIRST_MS = 1000
const LONGEST_MS = 300_000

export function createRetries(): Retries {
  const attempts = new Map<string, number>()
  return {
    afterMs(key, hasFailed) {
      if (!hasFailed) {
        attempts.delete(key)
        return undefined
      }
      const attempt = attempts.get(key) ?? 0
      attempts.set(key, attempt + 1)
      return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 20))
    },
  }
}
