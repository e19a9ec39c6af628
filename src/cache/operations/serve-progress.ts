/**
 * `GET /progress` of an operation, on a port of its pod, for whoever shows how far it is. What is served is small and names no file.
 * A port that is taken costs the figures, never the operation.
 */
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import { createHttpServer } from '../http/server.ts'
import type { Progress } from './progress.ts'

export interface ServedProgress {
  progress: Progress
  host: string
  port: number
  log: Log
}

/** One asks every few seconds; others are not meant to. */
const LIMITS = { connections: 64, idleMs: 10_000, requestMs: 5000, headersMs: 5000, closeMs: 1000 }

/** Resolves to what ends it. */
export async function serveProgress({ progress, host, port, log }: ServedProgress): Promise<() => Promise<void>> {
  const routes = [
    { method: 'GET', path: '/progress', handle: () => ({ json: progress.report() }) },
    { method: 'GET', path: '/healthz', handle: () => ({ text: 'ok' }) },
  ]
  const server = createHttpServer({ routes, log, limits: LIMITS })
  try {
    log.write('info', 'the operation serves its progress', { host, port: await server.listen(host, port) })
  } catch (error) {
    log.write('warn', 'the operation serves no progress: free the port', { host, port, error: messageOf(error) })
    return async () => undefined
  }
  return () => server.close()
}
