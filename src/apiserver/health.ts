/** /healthz, /livez, /readyz and /version. A check is a name and a function that returns what is wrong, or nothing. */
import { KUBERNETES_VERSION } from '../kinds/kubernetes/version.ts'
import type { ApiResponse } from '../kube/http.ts'
import type { RequestInfo } from '../kube/request-info.ts'
import { respondBytes } from './respond.ts'

export type HealthCheck = () => string | undefined

export interface Health {
  /** Undefined when the path is not a health path. */
  serve(info: RequestInfo): ApiResponse | undefined
}

const ROOTS = ['healthz', 'livez', 'readyz']

export function createHealth(checks: Record<string, HealthCheck>): Health {
  return {
    serve(info) {
      const [root = '', name, ...rest] = info.path.slice(1).split('/')
      if (!ROOTS.includes(root)) return undefined
      if (rest.length > 0) return text(404, '404 page not found\n')
      if (name !== undefined) {
        const check = Object.hasOwn(checks, name) ? checks[name] : undefined
        if (check === undefined) return text(404, '404 page not found\n')
        const problem = check()
        return problem === undefined ? text(200, 'ok') : text(500, `internal server error: ${problem}\n`)
      }
      return report(root, info.query)
    },
  }

  function report(root: string, query: URLSearchParams): ApiResponse {
    const excluded = query.getAll('exclude')
    const lines: string[] = []
    let failed = false
    for (const [name, check] of Object.entries(checks)) {
      if (excluded.includes(name)) {
        lines.push(`[+]${name} excluded: ok`)
        continue
      }
      const problem = check()
      failed ||= problem !== undefined
      lines.push(problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`)
    }
    if (!failed && !query.has('verbose')) return text(200, 'ok')
    return text(failed ? 500 : 200, `${lines.join('\n')}\n${root} check ${failed ? 'failed' : 'passed'}\n`)
  }
}

export function text(status: number, body: string): ApiResponse {
  return {
    status,
    headers: { 'cache-control': 'no-cache, private', 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: Buffer.from(body),
  }
}

/** Always indented, as in the real server. */
export function versionResponse(): ApiResponse {
  return respondBytes(200, Buffer.from(JSON.stringify(KUBERNETES_VERSION, null, 2)))
}
