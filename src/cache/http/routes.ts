/**
 * Finds the route of a request. Pure. Paths are compared segment by segment; parameters are percent-decoded and never empty;
 * anything that is not a plain absolute path is refused.
 */
import { HttpError } from './errors.ts'

export type PathPattern = readonly ({ text: string } | { parameter: string })[]

const LONGEST_TARGET = 8 * 1024
const MOST_QUERY_KEYS = 32

export const patternOf = (path: string): PathPattern =>
  path
    .slice(1)
    .split('/')
    .map((segment) => (segment.startsWith(':') ? { parameter: segment.slice(1) } : { text: segment }))

export interface Match<R> {
  route: R
  params: ReadonlyMap<string, string>
  query: URLSearchParams
}

/** Throws HttpError 404 or 405. */
export function matchRoute<R extends { method: string; pattern: PathPattern }>(
  table: readonly R[],
  method: string,
  target: string,
): Match<R> {
  if (target.length > LONGEST_TARGET) throw new HttpError(414, 'TooLong', `the path is longer than ${LONGEST_TARGET} bytes`)
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const segments = path.startsWith('/') ? path.slice(1).split('/') : []
  const allowed = new Set<string>()
  for (const route of table) {
    const params = paramsOf(route.pattern, segments)
    if (params === undefined) continue
    if (route.method === method) return { route, params, query: queryOf(mark < 0 ? '' : target.slice(mark + 1)) }
    allowed.add(route.method)
  }
  if (allowed.size > 0) throw new HttpError(405, 'MethodNotAllowed', `this path takes ${[...allowed].sort().join(', ')}`)
  throw new HttpError(404, 'NotFound', 'there is no such path')
}

function paramsOf(pattern: PathPattern, segments: readonly string[]): Map<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined
  const params = new Map<string, string>()
  for (const [i, expected] of pattern.entries()) {
    const segment = segments[i] ?? ''
    if ('text' in expected) {
      if (expected.text !== segment) return undefined
      continue
    }
    const value = decoded(segment)
    if (value === undefined || value === '') return undefined
    params.set(expected.parameter, value)
  }
  return params
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

function queryOf(text: string): URLSearchParams {
  const query = new URLSearchParams(text)
  if (query.size > MOST_QUERY_KEYS) throw new HttpError(400, 'BadQuery', `more than ${MOST_QUERY_KEYS} query parameters`)
  return query
}
