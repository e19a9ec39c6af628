/**
 * Admission, declared beside the kinds: pure functions over an incoming object. The embedded server calls them in
 * process; on Kubernetes the same declarations are served as webhooks.
 */

import type { FieldError } from '../kube/field-error.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'
import type { UserInfo } from './kind.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface AdmissionRequest {
  operation: AdmissionOperation
  group: string
  version: string
  kind: string
  resource: string
  subresource: string
  namespace: string
  name: string
  /** Mutable in `mutate`; absent on DELETE. */
  object?: KubeObject
  oldObject?: KubeObject
  user: UserInfo
  dryRun: boolean
  /** Options as sent: DeleteOptions and the like. */
  options?: Record<string, unknown>
}

/** Reads from the request's cluster: the committed state, frozen. Synchronous, so that nothing can change during a decision. */
export interface AdmissionReader {
  get(of: { group: string; resource: string }, namespace: string, name: string): KubeObject | undefined
  list(of: { group: string; resource: string }, namespace?: string): readonly KubeObject[]
}

/** A right on a resource. */
export interface Right {
  verb: string
  group: string
  resource: string
  namespace: string
  name: string
}

export interface AdmissionContext {
  read: AdmissionReader
  /**
   * Whether the author of the request has this right: for objects that make us use something in their stead. Only for an
   * admission that declares `asksForRights`.
   */
  authorMay(right: Right): Promise<boolean>
  nowMs: number
  /** A version 4 UUID: a unique name. */
  newUid(): string
  /** A Warning header for the answer. */
  warn(message: string): void
  /**
   * Changes the status of another object under optimistic concurrency before the request proceeds (quota does).
   * `change` gets a mutable copy of the live object and returns false to write nothing. A dry run computes and does not write.
   */
  adjust(of: { group: string; resource: string }, namespace: string, name: string, change: (object: KubeObject) => boolean): Promise<void>
}

/** A resource that admission looks at. */
export type AdmissionRead = Resource

/** A label that selects objects; without a value, any value will do. */
export interface AdmissionLabel {
  key: string
  value?: string
}

/** Deny by throwing a StatusError, or by returning field errors from `validate`. */
export interface Admission {
  name: string
  /** One sentence for the reference. */
  about?: string
  /** Which requests it sees; `*` is any. Subresources must be named ('pods/ephemeralcontainers'). */
  resources: readonly { group: string; resource: string }[]
  operations: readonly AdmissionOperation[]
  /** Served as a webhook, it is called only for objects with this label; it must still check for it itself. */
  label?: AdmissionLabel
  /**
   * Served as a webhook: what happens to a request while it cannot be called. Default: `Fail` if all resources belong to our own
   * groups, otherwise `Ignore`. On resources of others, `Fail` needs a `label`: only what asked for us may be held up by us.
   */
  failurePolicy?: 'Fail' | 'Ignore'
  /** After those of all modules that do not say so: it must see what they changed. */
  runsLast?: boolean
  /** What it reads besides the request: served as a webhook, it keeps a cache of these. */
  reads?: readonly AdmissionRead[]
  /** Served as a webhook, it asks the server what authors may do. */
  asksForRights?: boolean
  mutate?(request: AdmissionRequest, context: AdmissionContext): void | Promise<void>
  validate?(request: AdmissionRequest, context: AdmissionContext): FieldError[] | undefined | Promise<FieldError[] | undefined>
}

export function defineAdmission(admission: Admission): Admission {
  return Object.freeze(admission)
}
