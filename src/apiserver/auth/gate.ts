/**
 * The entry to the server core: who is asking (credentials, then impersonation), and whether they are allowed to. Both
 * throw the answer when it is no.
 */
import type { UserInfo } from '../../kinds/kind.ts'
import { parseFieldSelector, requiredField } from '../../kube/field-selector.ts'
import type { ApiRequest } from '../../kube/http.ts'
import { parseRequestInfo, type RequestInfo } from '../../kube/request-info.ts'
import { type Attributes, type Authorizer, forbiddenFor } from './attributes.ts'
import type { Authenticator } from './authenticate.ts'
import { impersonate } from './impersonate.ts'

export interface AuthGate {
  authenticate(request: ApiRequest): UserInfo
  authorize(user: UserInfo, info: RequestInfo): void
}

export function createGate(authenticator: Authenticator, authorizer: Authorizer): AuthGate {
  return {
    authenticate(request) {
      const user = authenticator.authenticate(request)
      if (!hasImpersonation(request.headers)) return user
      return impersonate(request.headers, attributesOfRequest(user, parseRequestInfo(request.method, request.url)), authorizer)
    },
    authorize(user, info) {
      const attributes = attributesOfRequest(user, info)
      const decision = authorizer.authorize(attributes)
      if (!decision.allowed) throw forbiddenFor(attributes, decision.reason)
    },
  }
}

function hasImpersonation(headers: ApiRequest['headers']): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true
  return false
}

function attributesOfRequest(user: UserInfo, info: RequestInfo): Attributes {
  const fieldSelector = info.query.get('fieldSelector') ?? ''
  // A list of one name is authorized as that name, so that a rule with resourceNames can allow it.
  const isList = info.name === '' && (info.verb === 'list' || info.verb === 'watch')
  const name = isList && fieldSelector !== '' ? nameSelected(fieldSelector) : info.name
  const { verb, isResource, group, resource, subresource, namespace, path } = info
  return { user, verb, isResource, group, resource, subresource, namespace, name, path, fieldSelector }
}

const UNUSABLE_NAME = /[/%]/

function nameSelected(fieldSelector: string): string {
  const name = requiredField(parseFieldSelector(fieldSelector).value ?? [], 'metadata.name')
  return name === undefined || name === '.' || name === '..' || UNUSABLE_NAME.test(name) ? '' : name
}
