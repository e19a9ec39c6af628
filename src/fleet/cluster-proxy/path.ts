/**
 * The path at the member: what follows `proxy` in a request, taken apart as authorization took it apart and put together anew,
 * so that nothing but a path of that server can come out, however it was written. Pure.
 */

import type { RequestInfo } from '../../kube/request-info.ts'
import { badRequestError } from '../../kube/status.ts'

/** Path and query, starting with exactly one `/`. */
export function memberPath(info: Pick<RequestInfo, 'path' | 'rest'>, url: string): string {
  if (!isReadable(info.path)) throw badRequestError('the path into the cluster is no UTF-8')
  const first = info.rest.findIndex((part) => part !== '')
  const parts = first < 0 ? [] : info.rest.slice(first)
  // A server in between, or one that cleans paths, would leave the place that the path was judged by.
  if (parts.some((part) => part === '.' || part === '..')) throw badRequestError('a path into a cluster must not have the parts . and ..')
  const end = parts.length > 0 && info.path.endsWith('/') ? '/' : ''
  return `/${parts.map(escaped).join('/')}${end}${queryOf(url)}`
}

const escaped = (text: string): string => encodeURIComponent(Buffer.from(text).toString('utf8'))

/** As it was sent, but for what no request line may hold. */
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
