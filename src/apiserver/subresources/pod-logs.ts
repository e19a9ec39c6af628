/** Parses a request for logs, and makes the answer that streams them. */
import { type FieldError, forbidden, invalid } from '../../kube/field-error.ts'
import type { ApiResponse } from '../../kube/http.ts'
import type { LogRequest, NodeConnection, PodContainer } from '../../kube/node-connections.ts'
import { badRequestError } from '../../kube/status.ts'
import { wholeNumber } from '../options.ts'

export function logOptionErrors(query: URLSearchParams): FieldError[] {
  const number = (name: string): number | undefined => wholeNumber(query.get(name))
  const errors: FieldError[] = []
  const [tail, bytes, seconds] = [number('tailLines'), number('limitBytes'), number('sinceSeconds')]
  if (tail !== undefined && tail < 0) errors.push(invalid('tailLines', tail, 'must be greater than or equal to 0'))
  if (bytes !== undefined && bytes < 1) errors.push(invalid('limitBytes', bytes, 'must be greater than 0'))
  if (seconds !== undefined && query.get('sinceTime') !== null)
    errors.push(forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else if (seconds !== undefined && seconds < 1) errors.push(invalid('sinceSeconds', seconds, 'must be greater than 0'))
  return errors
}

const isSet = (value: string | null): boolean => value !== null && value !== 'false' && value !== '0'

function logRequest(query: URLSearchParams, nowMs: number): LogRequest {
  const since = query.get('sinceTime')
  const sinceTimeMs = since === null || since === '' ? undefined : Date.parse(since)
  if (sinceTimeMs !== undefined && Number.isNaN(sinceTimeMs)) throw badRequestError(`invalid sinceTime ${JSON.stringify(since)}`)
  const seconds = wholeNumber(query.get('sinceSeconds'))
  return {
    follow: isSet(query.get('follow')),
    previous: isSet(query.get('previous')),
    timestamps: isSet(query.get('timestamps')),
    tailLines: wholeNumber(query.get('tailLines')),
    limitBytes: wholeNumber(query.get('limitBytes')),
    sinceMs: seconds === undefined ? sinceTimeMs : nowMs - seconds * 1000,
    stream: 'All',
  }
}

export async function serveLogs(
  query: URLSearchParams,
  of: PodContainer,
  from: { node: NodeConnection; nowMs: number },
): Promise<ApiResponse> {
  const body = await from.node.logs(of, logRequest(query, from.nowMs))
  return { status: 200, headers: { 'cache-control': 'no-cache, private', 'content-type': 'text/plain' }, body }
}
