/** A request from the wire: its headers, with repeated ones kept apart where it matters, and its body up to a limit. */
import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { ApiRequest } from '../../kube/http.ts'

export type Incoming = IncomingMessage | Http2ServerRequest

/** Headers whose repeated values are separate, and in which a comma is just a comma. */
const isList = (name: string): boolean => name === 'impersonate-group' || name.startsWith('impersonate-extra-')

/** The object has no prototype, because `__proto__` is a legal header name. HTTP/2's authority is the host. */
export function readHeaders(raw: readonly string[]): ApiRequest['headers'] {
  const headers = Object.create(null) as Record<string, string | string[]>
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const sent = (raw[i] ?? '').toLowerCase()
    const name = sent === ':authority' ? 'host' : sent
    const value = raw[i + 1] ?? ''
    if (name.startsWith(':') || (name === 'host' && headers.host !== undefined)) continue
    const known = headers[name]
    if (isList(name)) headers[name] = [...(known === undefined ? [] : [known].flat()), value]
    else headers[name] = known === undefined ? value : `${[known].flat().join(', ')}, ${value}`
  }
  return headers
}

/** Path and query; the absolute form that proxies send loses its scheme and host. */
export function readTarget(url: string | undefined): string {
  if (url === undefined || url === '') return '/'
  if (url.startsWith('/')) return url
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(.*)$/i.exec(url)
  const rest = absolute?.[1] ?? `/${url}`
  return rest.startsWith('/') ? rest : `/${rest}`
}

export type Body = { kind: 'whole'; bytes: Uint8Array | undefined } | { kind: 'too-large' } | { kind: 'gone' }

export function readBody(request: Incoming, limit: number): Promise<Body> {
  const declared = request.headers['content-length']
  if (declared !== undefined && Number(declared) > limit) return Promise.resolve({ kind: 'too-large' })
  if (isBodiless(request)) return Promise.resolve({ kind: 'whole', bytes: undefined })
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const done = (body: Body) => {
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone)
      resolve(body)
    }
    const onData = (chunk: Uint8Array) => {
      size += chunk.length
      if (size <= limit) return void chunks.push(chunk)
      request.pause()
      done({ kind: 'too-large' })
    }
    const onEnd = () => done({ kind: 'whole', bytes: chunks.length === 1 ? chunks[0] : Buffer.concat(chunks) })
    const onGone = () => done({ kind: 'gone' })
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
  })
}

function isBodiless(request: Incoming): boolean {
  if ('stream' in request) return request.stream.endAfterHeaders
  return request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined
}
