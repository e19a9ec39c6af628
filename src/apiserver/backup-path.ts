/** GET /sluice.dev/backup: the whole store as one stream, while it runs. Only administrators may: no RBAC rule grants the path by default. */

import type { ApiResponse, ByteSink } from '../kube/http.ts'
import type { RequestInfo } from '../kube/request-info.ts'
import { failure } from '../kube/status.ts'

export const BACKUP_PATH = '/sluice.dev/backup'

/** Writes the backup chunk by chunk; the next chunk is produced once the promise of the previous one has settled. */
export type WriteBackup = (sink: (chunk: Uint8Array) => Promise<void>) => Promise<unknown>

export function backupHandler(write: WriteBackup): (info: RequestInfo) => ApiResponse | undefined {
  return (info) => {
    if (info.path !== BACKUP_PATH) return undefined
    if (info.method !== 'GET') throw failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
    return {
      status: 200,
      headers: { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' },
      body: (sink) => stream(write, sink),
    }
  }
}

class Cancelled extends Error {}

function stream(write: WriteBackup, sink: ByteSink): () => void {
  let isCancelled = false
  let wake: (() => void) | undefined
  const finished = write(
    (chunk) =>
      new Promise((resolve, reject) => {
        if (isCancelled) return reject(new Cancelled('the reader of the backup went away'))
        if (sink.write(chunk)) return resolve()
        wake = () => (isCancelled ? reject(new Cancelled('the reader of the backup went away')) : resolve())
        sink.onDrain(() => wake?.())
      }),
  )
  // A stream that breaks off has no trailer, and a backup without its trailer is refused: the reader notices.
  finished.then(
    () => sink.end(),
    () => sink.end(),
  )
  return () => {
    isCancelled = true
    wake?.()
  }
}
