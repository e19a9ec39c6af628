/** An API server's refusal, with the Status it returned; and predicates for callers. */
import type { Status } from '../kube/status.ts'
import { TransportError } from './transport.ts'

export class ApiError extends Error {
  readonly status: Status
  readonly code: number
  /** Seconds the server asked to wait, if given. */
  readonly retryAfterSeconds: number | undefined
  constructor(code: number, status: Status, retryAfterSeconds?: number) {
    super(status.message ?? status.reason ?? `HTTP ${code}`)
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
  get reason(): string {
    return this.status.reason ?? ''
  }
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.code === 404
/** The answer, or undefined where the server has no such object. */
export async function ifFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.reason === 'Conflict'
export const isAlreadyExists = (error: unknown): boolean => error instanceof ApiError && error.reason === 'AlreadyExists'
/** Whether the server acted on the request is unknown: no answer came, or one that does not say. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof TransportError || (error instanceof ApiError && error.code >= 500 && error.code !== 501 && error.code !== 503)
/** The namespace is being deleted and accepts nothing new. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof ApiError && (error.status.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')
/** The requested revision is no longer available: list again. */
export const isExpired = (error: unknown): boolean => error instanceof ApiError && (error.code === 410 || error.reason === 'Expired')

/** An answer that is not a Status (such as a proxy's error page) is turned into one. */
export function statusOf(code: number, text: string): Status {
  try {
    const value = JSON.parse(text) as Status
    if (value !== null && typeof value === 'object' && value.kind === 'Status') return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  const message = text.trim() === '' ? `the server answered ${code} without a body` : text.trim().slice(0, 500)
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code }
}
