/**
 * metav1.Status, the answer to everything that failed, with the real server's constructors: reason, code, message and
 * details are part of the wire contract, clients classify by them.
 */
import { aggregateMessage, type FieldError, fieldErrorBody, fieldErrorMessage, fieldErrorReason } from './field-error.ts'

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: Record<string, unknown>
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

export interface GroupResource {
  group: string
  resource: string
}

/** Thrown wherever a request cannot be served; `handle` turns it into the answer. */
export class StatusError extends Error {
  readonly status: Status
  constructor(status: Status) {
    super(status.message ?? status.reason ?? 'failure')
    this.name = 'StatusError'
    this.status = status
  }
  get code(): number {
    return this.status.code ?? 500
  }
  get reason(): string {
    return this.status.reason ?? ''
  }
}

export function failure(code: number, reason: string, message: string, details?: StatusDetails): StatusError {
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message }
  if (reason !== '') status.reason = reason
  if (details !== undefined) status.details = details
  status.code = code
  return new StatusError(status)
}

/** `deployments.apps`, or `pods` for the core group: how messages name a resource. */
const qualifiedResource = (of: GroupResource): string => (of.group === '' ? of.resource : `${of.resource}.${of.group}`)

const details = (of: GroupResource, name: string, more: StatusDetails = {}): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(of.group === '' ? {} : { group: of.group }),
  ...(of.resource === '' ? {} : { kind: of.resource }),
  ...more,
})

export const notFoundError = (of: GroupResource, name: string): StatusError =>
  failure(404, 'NotFound', `${qualifiedResource(of)} ${JSON.stringify(name)} not found`, details(of, name))

/** The generic 404 of a path that is not served. */
export const noSuchPathError = (): StatusError => failure(404, 'NotFound', 'the server could not find the requested resource', {})

export const alreadyExistsError = (of: GroupResource, name: string): StatusError =>
  failure(409, 'AlreadyExists', `${qualifiedResource(of)} ${JSON.stringify(name)} already exists`, details(of, name))

export const conflictError = (of: GroupResource, name: string, why: string): StatusError =>
  failure(409, 'Conflict', `Operation cannot be fulfilled on ${qualifiedResource(of)} ${JSON.stringify(name)}: ${why}`, details(of, name))

export const staleConflictError = (of: GroupResource, name: string): StatusError =>
  conflictError(of, name, 'the object has been modified; please apply your changes to the latest version and try again')

/** `of` names the *kind* here (as the real server does for validation failures), not the resource. */
export function invalidError(of: { group: string; kind: string }, name: string, errors: readonly FieldError[]): StatusError {
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`
  return failure(422, 'Invalid', `${kind} ${JSON.stringify(name)} is invalid: ${aggregateMessage(errors.map(fieldErrorMessage))}`, {
    ...(name === '' ? {} : { name }),
    ...(of.group === '' ? {} : { group: of.group }),
    ...(of.kind === '' ? {} : { kind: of.kind }),
    causes: errors.map((e) => ({ reason: fieldErrorReason(e), message: fieldErrorBody(e), field: e.field })),
  })
}

export const badRequestError = (message: string): StatusError => failure(400, 'BadRequest', message)

export const unauthorizedError = (): StatusError => failure(401, 'Unauthorized', 'Unauthorized')

/** `why` follows the colon: `pods "a" is forbidden: why`. */
export function forbiddenError(of: GroupResource, name: string, why: string): StatusError {
  const subject =
    of.resource === '' && of.group === ''
      ? ''
      : name === ''
        ? `${qualifiedResource(of)} `
        : `${qualifiedResource(of)} ${JSON.stringify(name)} `
  const message = subject === '' ? `forbidden: ${why}` : `${subject}is forbidden: ${why}`
  return failure(403, 'Forbidden', message, details(of, name))
}

export const expiredError = (message: string): StatusError => failure(410, 'Expired', message)

export const tooManyRequestsError = (message: string, retryAfterSeconds: number): StatusError =>
  failure(429, 'TooManyRequests', message, { retryAfterSeconds })

export const internalServerError = (message: string): StatusError =>
  failure(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] })

export const tooLargeBodyError = (message: string): StatusError =>
  failure(413, 'RequestEntityTooLarge', `Request entity is too large: ${message}`)
