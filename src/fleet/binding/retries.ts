/**
 * How long to wait before an external party that failed to answer is asked again, since no event will announce that it
 * recovered: twice as long each time, up to a bound. One small entry per failing binding.
 */
export interface Retries {
  /** Undefined when there is nothing to retry. */
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
