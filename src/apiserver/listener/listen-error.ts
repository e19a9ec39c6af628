/** Why the server cannot listen where it was told to, in a form that a command line can turn into advice. */
export type ListenErrorCode = 'E_LISTEN_IN_USE' | 'E_LISTEN_DENIED' | 'E_LISTEN_NO_ADDRESS' | 'E_LISTEN_FAILED'

const CODES: Readonly<Record<string, ListenErrorCode>> = {
  EADDRINUSE: 'E_LISTEN_IN_USE',
  EACCES: 'E_LISTEN_DENIED',
  EADDRNOTAVAIL: 'E_LISTEN_NO_ADDRESS',
  ENOTFOUND: 'E_LISTEN_NO_ADDRESS',
}

const ADVICE: Readonly<Record<ListenErrorCode, string>> = {
  E_LISTEN_IN_USE: 'another program listens there; stop it, choose another port, or use port 0 to have a free one picked',
  E_LISTEN_DENIED: 'this user may not listen there; ports below 1024 usually need an administrator',
  E_LISTEN_NO_ADDRESS: 'this machine has no such address',
  E_LISTEN_FAILED: 'the system refused',
}

export class ListenError extends Error {
  readonly code: ListenErrorCode
  readonly host: string
  readonly port: number
  constructor(cause: NodeJS.ErrnoException, host: string, port: number) {
    const code = CODES[cause.code ?? ''] ?? 'E_LISTEN_FAILED'
    super(`cannot listen on ${host.includes(':') ? `[${host}]` : host}:${port}: ${ADVICE[code]} (${cause.message})`, { cause })
    this.name = 'ListenError'
    this.code = code
    this.host = host
    this.port = port
  }
}
