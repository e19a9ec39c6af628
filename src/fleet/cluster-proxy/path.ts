/**
 * The path at the member: what follows `proxy` in a request, split as authorization split it and put together again, so
 * that the result is always a path of that server, however it was written. Pure.
 */

import type { RequestInfo } from '../../kube/request-info.ts'
import { badRequestError } from '../../kube/status.ts'

/** Path and query, starting with exactly one `/`. */
export function memberPath(info: Pick<RequestInfo, 'path' | 'rest'>, url: string): string {
  if (!isReadable(info.path)) throw badRequestError('the path into the cluster is no UTF-8')
  const first = info.rest.findIndex((part) => part !== '')
  const parts = first < 0 ? [] : info.rest.slice(first)
  // A proxy, or a server that cleans paths, would resolve it to another path than the one that was authorized.
  if (parts.some((part) => part === '.' || part === '..')) throw badRequestError('a path into a cluster must not have the parts . and ..')
  const end = parts.length > 0 && info.path.endsWith('/') ? '/' : ''
  return `/${parts.map(escaped).join('/')}${end}${queryOf(url)}`
}

const escaped = (text: string): string => encodeURIComponent(Buffer.from(text).toString('utf8'))

/** As it was sent, except for characters that a request line must not contain. */
function queryOf(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark).replace(/[^\x21-\x7e]+|#/g, escaped)
}

function isReadable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}
