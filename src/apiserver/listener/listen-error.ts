/** Why the server cannot listen at the requested address, in a form that a command line can turn into advice. */
import { ERROR_CATALOGUE, type ErrorCode } from '../../base/errors/catalogue.ts'

export type ListenErrorCode = Extract<ErrorCode, `E_LISTEN_${string}`>

const CODES: Readonly<Record<string, ListenErrorCode>> = {
  EADDRINUSE: 'E_LISTEN_IN_USE',
  EACCES: 'E_LISTEN_DENIED',
  EADDRNOTAVAIL: 'E_LISTEN_NO_ADDRESS',
  ENOTFOUND: 'E_LISTEN_NO_ADDRESS',
}

export class ListenError extends Error {
  readonly code: ListenErrorCode
  readonly host: string
  readonly port: number
  constructor(cause: NodeJS.ErrnoException, host: string, port: number) {
    const code = CODES[cause.code ?? ''] ?? 'E_LISTEN_FAILED'
    super(`cannot listen on ${host.includes(':') ? `[${host}]` : host}:${port}: ${ERROR_CATALOGUE[code].advice} (${cause.message})`, {
      cause,
    })
    this.name = 'ListenError'
    this.code = code
    this.host = host
    this.port = port
  }
}
