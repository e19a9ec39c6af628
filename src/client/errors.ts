/** What an API server refused, with the Status it answered; and the questions callers ask of it. */
import type { Status } from '../kube/status.ts'
import { TransportError } from './transport.ts'

export class ApiError extends Error {
  readonly status: Status
  readonly code: number
  /** Seconds the server asked to wait, if it did. */
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
/** Whether the server acted on the request cannot be told: no answer came, or one that says nothing about it. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof TransportError || (error instanceof ApiError && error.code >= 500 && error.code !== 501 && error.code !== 503)
/** The namespace is on its way out and takes nothing new. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof ApiError && (error.status.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')
/** The revision asked for is no longer there: list again. */
export const isExpired = (error: unknown): boolean => error instanceof ApiError && (error.code === 410 || error.reason === 'Expired')

/** An answer that is no Status (a proxy's error page, say) still becomes one. */
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
