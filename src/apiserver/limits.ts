/** Keeps one client, or all of them together, from overloading the server: excess requests get 429 and a Retry-After. */
import type { Clock } from '../base/clock.ts'
import type { UserInfo } from '../kinds/kind.ts'
import { tooManyRequestsError } from '../kube/status.ts'
import type { ServerLimits } from './scope.ts'

export interface RequestLimiter {
  readonly inFlight: number
  /** Runs `work` if the limit allows. A watch stops counting as soon as its stream has begun. */
  pass<T>(user: UserInfo, work: () => Promise<T>): Promise<T>
}

interface Bucket {
  tokens: number
  filledAtMs: number
}

const MAX_BUCKETS = 10_000

export function createRequestLimiter(limits: ServerLimits, clock: Clock): RequestLimiter {
  const buckets = new Map<string, Bucket>()
  let inFlight = 0

  const take = (user: string): boolean => {
    const now = clock.now()
    const bucket = buckets.get(user) ?? { tokens: limits.userBurst, filledAtMs: now }
    bucket.tokens = Math.min(limits.userBurst, bucket.tokens + ((now - bucket.filledAtMs) / 1000) * limits.userRate)
    bucket.filledAtMs = now
    // The least recently seen user is dropped first: the map is bounded whatever names clients make up.
    buckets.delete(user)
    if (buckets.size >= MAX_BUCKETS) {
      const oldest = buckets.keys().next().value
      if (oldest !== undefined) buckets.delete(oldest)
    }
    buckets.set(user, bucket)
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }

  return {
    get inFlight() {
      return inFlight
    },
    async pass(user, work) {
      if (!user.groups.includes('system:masters') && !take(user.name))
        throw tooManyRequestsError(`${user.name} sends more than ${limits.userRate} requests a second; slow down and try again`, 1)
      if (inFlight >= limits.inFlight) throw tooManyRequestsError('too many requests are under way, please try again later', 1)
      inFlight++
      try {
        return await work()
      } finally {
        inFlight--
      }
    },
  }
}
