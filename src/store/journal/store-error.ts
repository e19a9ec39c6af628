/** Why a data directory or a backup was refused. The message says what to do; the code says what it is to programs. */
export type StoreErrorCode = 'E_STORE_LOCKED' | 'E_STORE_FORMAT' | 'E_STORE_DAMAGED' | 'E_STORE_NOT_EMPTY' | 'E_BACKUP_DAMAGED'

export class StoreRefusedError extends Error {
  readonly code: StoreErrorCode
  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StoreRefusedError'
    this.code = code
  }
}

/** A fault inside a file, at a byte. The reader says what, the caller says what to do. */
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
