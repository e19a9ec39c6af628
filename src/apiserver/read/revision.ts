/** The resourceVersion rules of reads: parsing, waiting for a future revision, and the error when it never comes. */
import { badRequestError, expiredError, failure } from '../../kube/status.ts'
import type { Scope } from '../scope.ts'

/** Throws 400 as lists do; single objects and watches answer 500 (see `parseExactRevision`). */
export function parseRevision(text: string): number | undefined {
  if (text === '') return undefined
  const problem = revisionProblem(text)
  if (problem !== undefined) throw badRequestError(`invalid resource version: ${problem}`)
  return Number(text)
}

export function parseExactRevision(text: string): number | undefined {
  if (text === '') return undefined
  const problem = revisionProblem(text)
  if (problem !== undefined) throw failure(500, '', problem)
  return Number(text)
}

function revisionProblem(text: string): string | undefined {
  const cause = /^\d+$/.test(text) ? (BigInt(text) > 18446744073709551615n ? 'value out of range' : undefined) : 'invalid syntax'
  return cause === undefined
    ? undefined
    : `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${cause}`
}

/** Resolves once the store is at least at `revision`; gives up with 504 after the configured wait. */
export function waitForRevision(scope: Scope, revision: number): Promise<void> {
  const { store } = scope.server.objects
  if (store.revision >= revision) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const cancelWait = store.whenRevision(revision, () => {
      cancelTimer()
      resolve()
    })
    const cancelTimer = scope.server.clock.after(scope.server.limits.futureRevisionWaitSeconds * 1000, () => {
      cancelWait()
      reject(tooLargeRevision(revision, store.revision))
    })
  })
}

function tooLargeRevision(requested: number, current: number): Error {
  return failure(504, 'Timeout', `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}

export const tooOldRevision = (requested: number, oldest: number): Error =>
  expiredError(`too old resource version: ${requested} (${oldest})`)
