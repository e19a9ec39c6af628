/**
 * Gzip for large whole answers, by the real server's rule: more than 128 KiB, the client lists `gzip`, level 1. The work is
 * done off the main thread. Watches are never compressed.
 */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ApiRequest, ApiResponse } from '../../kube/http.ts'

const GZIP_THRESHOLD_BYTES = 128 * 1024

const deflate = promisify<Uint8Array, { level: number }, Uint8Array>(gzip)

export async function compressed(response: ApiResponse, accept: ApiRequest['headers'][string]): Promise<ApiResponse> {
  const { body, headers } = response
  if (!(body instanceof Uint8Array) || body.length <= GZIP_THRESHOLD_BYTES) return response
  if (headers['content-encoding'] !== undefined || !acceptsGzip(accept)) return response
  const vary = [headers.vary ?? []].flat()
  return {
    ...response,
    headers: { ...headers, 'content-encoding': 'gzip', vary: [...vary, 'Accept-Encoding'].join(', ') },
    body: await deflate(body, { level: 1 }),
  }
}

/** Only the bare token counts, as in the real server: a client that sends quality values gets no compression. */
function acceptsGzip(accept: ApiRequest['headers'][string]): boolean {
  return [accept ?? []]
    .flat()
    .join(',')
    .split(',')
    .some((token) => token.trim() === 'gzip')
}
