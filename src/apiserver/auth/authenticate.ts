/**
 * Who sends a request. Every credential is tried and the first valid one wins: client certificate, then bearer token.
 * A request whose credentials are all invalid is refused (401); one without any is anonymous. In-process callers
 * that the server core trusts name themselves.
 */
import { createHash } from 'node:crypto'
import { anonymousUser, CREDENTIAL_ID, withAuthenticatedGroup } from '../../kinds/identity.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import { aggregateMessage } from '../../kube/field-error.ts'
import type { ApiRequest } from '../../kube/http.ts'
import { unauthorizedError } from '../../kube/status.ts'
import type { AuthenticatedToken, ServiceAccountTokens } from './service-account-token.ts'

export interface AuthenticatorOptions {
  /** Fixed tokens and the users they stand for, such as the administrator's. */
  staticTokens?: readonly { token: string; user: UserInfo }[]
  serviceAccounts?: ServiceAccountTokens
}

export interface Authenticator {
  /** The user of a request; throws the 401. */
  authenticate(request: Pick<ApiRequest, 'headers' | 'peer' | 'refusedPeer' | 'as'>): UserInfo
  /** What a TokenReview asks; `audiences` default to the API server's own. */
  authenticateToken(token: string, audiences?: readonly string[]): AuthenticatedToken | { error: string }
  /** The audiences that mean this server; empty when it issues no tokens. */
  readonly audiences: readonly string[]
}

const INVALID_TOKEN = 'invalid bearer token'

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  // Looked up by digest: the time of a lookup reveals nothing about a token that was nearly right.
  const fixed = new Map((options.staticTokens ?? []).map(({ token, user }) => [digest(token), user]))
  const own = options.serviceAccounts?.audiences ?? []

  const authenticateToken: Authenticator['authenticateToken'] = (token, audiences = own) => {
    const known = fixed.get(digest(token))
    if (known !== undefined) {
      const shared = audiences.filter((audience) => own.includes(audience))
      if (shared.length === 0 && own.length > 0) return { error: INVALID_TOKEN }
      return { user: withAuthenticatedGroup(known), audiences: shared }
    }
    const verdict = options.serviceAccounts?.verify(token, audiences)
    if (verdict === undefined) return { error: INVALID_TOKEN }
    // The real server tries its own loopback tokens first, and their error is part of the message.
    if ('error' in verdict) return { error: aggregateMessage([INVALID_TOKEN, verdict.error]) }
    return { user: withAuthenticatedGroup(verdict.user), audiences: verdict.audiences }
  }

  return {
    audiences: own,
    authenticateToken,
    authenticate(request) {
      if (request.as !== undefined) return withAuthenticatedGroup({ name: request.as.name, groups: [...request.as.groups] })
      if (request.peer !== undefined && request.peer.commonName !== '') return withAuthenticatedGroup(certificateUser(request.peer))
      const token = bearerToken(request.headers.authorization)
      if (token !== undefined) {
        const verdict = authenticateToken(token)
        if ('error' in verdict) throw unauthorizedError()
        return verdict.user
      }
      if (request.refusedPeer !== undefined) throw unauthorizedError()
      return anonymousUser()
    },
  }
}

function certificateUser(peer: NonNullable<ApiRequest['peer']>): UserInfo {
  const user: UserInfo = { name: peer.commonName, groups: [...peer.organizations] }
  if (peer.sha256 !== undefined) user.extra = { [CREDENTIAL_ID]: [`X509SHA256=${peer.sha256}`] }
  return user
}

/** The token of `Authorization: Bearer …`; undefined when the header has another scheme (and so is no bearer credential). */
function bearerToken(header: string | readonly string[] | undefined): string | undefined {
  const value = typeof header === 'string' ? header : header?.[0]
  const [scheme, token] = (value ?? '').trim().split(' ', 3)
  return scheme?.toLowerCase() === 'bearer' && token !== undefined && token !== '' ? token : undefined
}

const digest = (token: string): string => createHash('sha256').update(token).digest('base64')
