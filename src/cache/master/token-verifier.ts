/**
 * Verifies tokens of clients with the keys that the cluster publishes. Keys are fetched when first needed and again when a token
 * names one that is unknown, at most once a minute whatever is sent, and by one request at a time.
 */
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { checkToken, keyIdOf, type PublicKey, readKeySet, type Verdict } from './jwt.ts'

const REFRESH_MS = 60_000

export interface TokenVerifier {
  verify(token: string): Promise<Verdict>
}

export interface TokenVerifierOptions {
  clock: Clock
  /** Of this cache: tokens for others are refused. */
  audience: string
  /** The parsed key set of the issuer. */
  fetchKeys(): Promise<unknown>
  /** Of this cluster, as this program's own token names it. */
  issuer(): Promise<string>
}

export function createTokenVerifier({ clock, audience, fetchKeys, issuer }: TokenVerifierOptions): TokenVerifier {
  let keys: readonly PublicKey[] = []
  let askedAtMs = Number.NEGATIVE_INFINITY
  let problem: string | undefined
  let asking: Promise<void> | undefined

  async function refresh(): Promise<void> {
    askedAtMs = clock.now()
    try {
      keys = readKeySet(await fetchKeys())
      problem = undefined
    } catch (error) {
      problem = `the keys of the cluster cannot be read: ${messageOf(error)}`
    }
  }

  return {
    async verify(token) {
      const id = keyIdOf(token)
      if (id === undefined) return { error: 'this is not a service-account token' }
      const isKnown = () => keys.some((key) => key.id === id)
      // A fetch under way may have begun for another key, but it brings all of them.
      if (!isKnown() && (asking !== undefined || clock.now() - askedAtMs >= REFRESH_MS)) {
        asking ??= refresh().finally(() => {
          asking = undefined
        })
        await asking
      }
      if (!isKnown() && problem !== undefined) return { error: problem }
      return checkToken(token, keys, { issuer: await issuer(), audience, nowMs: clock.now() })
    },
  }
}
