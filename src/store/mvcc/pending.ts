/**
 * Writes between being ordered and being durable. A write is checked against the newest pending state of its key, so
 * that writers in flight together behave as if one came after the other; one that loses against a pending write is
 * answered only when that write's outcome is known, because that write may never become durable.
 */
import type { CommitRequest, CommitResult } from '../store.ts'
import type { VersionRecord } from './version.ts'

/** What a durability layer sees of a write. It settles writes in the order in which it was given them. */
export interface PendingWrite {
  readonly cluster: string
  readonly version: VersionRecord
  /** When it was ordered, in milliseconds since the epoch. */
  readonly at: number
  /** It is durable. */
  publish(): void
  /** It is not, and never will be. Every write ordered after it must be aborted too, before anything else happens. */
  abort(error: Error): void
}

export interface CommitLog {
  /** Takes a write over; settles it later, never during the call. Throws when it takes no more writes. */
  append(write: PendingWrite): void
}

export interface Attempt {
  readonly request: CommitRequest
  resolve(result: CommitResult): void
  reject(error: unknown): void
}

/** Whether a write may proceed in this state. Deleting an absent key never may. */
export function isMet(request: CommitRequest, current: VersionRecord | undefined): boolean {
  if (request.type === 'delete' && current === undefined) return false
  if (request.expect === 'any') return true
  return request.expect === 'absent' ? current === undefined : current?.revision === request.expect
}
