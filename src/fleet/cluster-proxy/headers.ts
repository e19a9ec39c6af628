/**
 * The headers of a request that are passed to a member, and those of an answer that are passed to the client. Both are
 * allow-lists: credentials, impersonation, cookies and hop-by-hop headers stay on their side. Pure.
 */

import { AUTHENTICATED, UNAUTHENTICATED } from '../../kinds/identity.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import type { ApiRequest } from '../../kube/http.ts'
import { forbiddenError, type GroupResource } from '../../kube/status.ts'

const ASKED = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-encoding',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'kubectl-command',
  'kubectl-session',
  'range',
  'traceparent',
  'tracestate',
  'user-agent',
])

const ANSWERED = new Set([
  'accept-ranges',
  'audit-id',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-range',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'retry-after',
  'vary',
  'warning',
  'x-content-type-options',
  'x-kubernetes-pf-flowschema-uid',
  'x-kubernetes-pf-prioritylevel-uid',
])

export function forwardedHeaders(headers: ApiRequest['headers']): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !ASKED.has(name)) continue
    const text = typeof value === 'string' ? value : value.join(', ')
    if (HEADER_TEXT.test(text)) passed[name] = text
  }
  return passed
}

export function answeredHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined && ANSWERED.has(name)) passed[name] = value
  return passed
}

/** Groups that a server adds to every user. */
const IMPLIED = new Set([AUTHENTICATED, UNAUTHENTICATED])

/** The member decides what the caller may do there, whatever the hub itself may do. */
export function impersonationOf(user: UserInfo, of: { resource: GroupResource; cluster: string }): Record<string, string | string[]> {
  const groups = user.groups.filter((group) => !IMPLIED.has(group))
  const unsayable = [user.name, ...groups].find((name) => !NAME_IN_HEADER.test(name))
  if (unsayable !== undefined)
    throw forbiddenError(of.resource, of.cluster, `the cluster cannot be told of a user or group named ${JSON.stringify(unsayable)}`)
  return { 'impersonate-user': user.name, ...(groups.length === 0 ? {} : { 'impersonate-group': groups }) }
}

/** What a header carries unchanged: spaces at its ends would be lost, and the member would see another user. */
const NAME_IN_HEADER = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const HEADER_TEXT = /^[\t\x20-\x7e]*$/
