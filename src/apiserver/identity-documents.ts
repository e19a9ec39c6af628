/** The documents by which others check our service-account tokens: OpenID configuration and the public keys. */
import type { ServiceAccountTokens } from './auth/index.ts'
import type { ApiRequest, ApiResponse } from './http.ts'
import type { RequestInfo } from './request-info.ts'
import { respond } from './respond.ts'
import { header } from './scope.ts'

const CONFIGURATION = '/.well-known/openid-configuration'
const KEYS = '/openid/v1/jwks'

export function createIdentityDocuments(tokens: ServiceAccountTokens): (info: RequestInfo, request: ApiRequest) => ApiResponse | undefined {
  return (info, request) => {
    if (info.path !== CONFIGURATION && info.path !== KEYS) return undefined
    const documents = tokens.discovery(`https://${header(request, 'host') ?? 'localhost'}${KEYS}`)
    return info.path === CONFIGURATION ? respond(200, documents.configuration) : respond(200, documents.keys)
  }
}
