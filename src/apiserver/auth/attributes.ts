/**
 * What an authorizer is asked, and Kubernetes' 403 when the answer is no. `RequestInfo` of the server
 * core has these fields already, so a request's attributes are its info plus its user.
 */
import type { UserInfo } from '../../kinds/kind.ts'
import { goQuote } from '../../kube/go-print.ts'
import { forbiddenError, type StatusError } from '../../kube/status.ts'

export interface Attributes {
  user: UserInfo
  verb: string
  /** False for non-resource paths; then only `path` matters. */
  isResource: boolean
  group: string
  resource: string
  subresource: string
  namespace: string
  name: string
  path: string
  /** `spec.nodeName=x` and the like as sent; the node authorizer narrows by it. */
  fieldSelector?: string
}

export interface Decision {
  allowed: boolean
  /** Why it is allowed, or what went wrong while deciding; shown to the client. */
  reason: string
}

export interface Authorizer {
  authorize(attributes: Attributes): Decision
}

type ResourceAsk = Partial<Omit<Attributes, 'user' | 'isResource' | 'verb' | 'resource'>> & { verb: string; resource: string }

export function resourceAttributes(user: UserInfo, ask: ResourceAsk): Attributes {
  return { group: '', subresource: '', namespace: '', name: '', path: '', ...ask, user, isResource: true }
}

export function pathAttributes(user: UserInfo, verb: string, path: string): Attributes {
  return { user, verb, isResource: false, group: '', resource: '', subresource: '', namespace: '', name: '', path }
}

/** The 403 for attributes that were not allowed; `reason` is the authorizer's, '' when it had none. */
export function forbiddenFor(attributes: Attributes, reason: string): StatusError {
  const message = escapeHtml(denial(attributes))
  const of = attributes.isResource ? { group: attributes.group, resource: attributes.resource } : { group: '', resource: '' }
  return forbiddenError(of, attributes.isResource ? attributes.name : '', reason === '' ? message : `${message}: ${reason}`)
}

function denial(attributes: Attributes): string {
  const user = goQuote(attributes.user.name)
  if (!attributes.isResource) return `User ${user} cannot ${attributes.verb} path ${goQuote(attributes.path)}`
  const resource = attributes.subresource === '' ? attributes.resource : `${attributes.resource}/${attributes.subresource}`
  const scope = attributes.namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(attributes.namespace)}`
  const group = goQuote(attributes.group)
  return `User ${user} cannot ${attributes.verb} resource ${goQuote(resource)} in API group ${group} ${scope}`
}

/** The real server keeps its error messages from looking like HTML; quotes are left alone. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
