/** The documents with which others verify our service-account tokens: OpenID configuration and the public keys. */

import { type ApiRequest, type ApiResponse, header } from '../kube/http.ts'
import type { RequestInfo } from '../kube/request-info.ts'
import type { ServiceAccountTokens } from './auth/index.ts'
import { respond } from './respond.ts'

const CONFIGURATION = '/.well-known/openid-configuration'
const KEYS = '/openid/v1/jwks'

export function createIdentityDocuments(tokens: ServiceAccountTokens): (info: RequestInfo, request: ApiRequest) => ApiResponse | undefined {
  return (info, request) => {
    if (info.path !== CONFIGURATION && info.path !== KEYS) return undefined
    const documents = tokens.discovery(`https://${header(request, 'host') ?? 'localhost'}${KEYS}`)
    return info.path === CONFIGURATION ? respond(200, documents.configuration) : respond(200, documents.keys)
  }
}
