/** Why a data directory or a backup was refused. The message says what to do; the code identifies the error for programs. */

import { messageOf } from '../../base/error-text.ts'
import type { ErrorCode } from '../../base/errors/catalogue.ts'
import { errorCode, isDiskFull } from './disk.ts'

/** A running store that cannot write is not a refusal: it has its own error. */
export type StoreErrorCode = Exclude<Extract<ErrorCode, `E_STORE_${string}` | `E_BACKUP_${string}`>, 'E_STORE_UNAVAILABLE'>

export class StoreRefusedError extends Error {
  readonly code: StoreErrorCode
  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StoreRefusedError'
    this.code = code
  }
}

/** An error of the operating system, with a helpful message; anything else is returned unchanged. */
export function explained(error: unknown, dir: string): unknown {
  const code = errorCode(error)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    const advice = 'Start as the user who owns the files there, or choose another --data-dir.'
    return new StoreRefusedError('E_STORE_ACCESS', `${dir} cannot be read and written by this user (${messageOf(error)}). ${advice}`, error)
  }
  if (code === 'ENOTDIR')
    return new StoreRefusedError('E_STORE_ACCESS', `${dir} is not a directory (${messageOf(error)}). Choose another --data-dir.`, error)
  if (!isDiskFull(error)) return error
  return new StoreRefusedError(
    'E_STORE_FULL',
    `There is no room left on the disk of ${dir} (${messageOf(error)}). Make room, then start again.`,
    error,
  )
}

/** A fault inside a file, at an offset. The reader says what is wrong, the caller what to do. */
export class DamagedFileError extends Error {
  readonly file: string
  readonly offset: number
  readonly reason: string
  constructor(file: string, offset: number, reason: string) {
    super(`${file} is damaged at byte ${offset}: ${reason}`)
    this.name = 'DamagedFileError'
    this.file = file
    this.offset = offset
    this.reason = reason
  }
}
