/**
 * Who may do what: a ticket reads what lies below its sub path, a signature of the runtime's key reads and writes everything.
 * Without a key everybody may.
 */

import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import { HttpError } from '../http/errors.ts'
import { readTicket } from '../protocol/ticket.ts'
import type { WorkerAccess } from './options.ts'

export interface Access {
  /** The sub path that may be read. Throws an HttpError. */
  reader(request: IncomingMessage, body?: Uint8Array): string
  /** Throws an HttpError unless the request is signed. */
  signed(request: IncomingMessage, body?: Uint8Array | 'streamed'): void
}

export function createAccess(access: WorkerAccess | undefined, clock: Clock): Access {
  if (access === undefined) return { reader: () => '/', signed: () => undefined }
  const isSigned = (request: IncomingMessage, body?: Uint8Array | 'streamed') =>
    access.signing.isSigned(request.headers.authorization ?? '', { method: request.method ?? '', target: request.url ?? '', body })
  return {
    reader(request, body) {
      const [, text] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? []
      if (text === undefined) {
        if (isSigned(request, body)) return '/'
        throw new HttpError(401, 'Unauthorized', 'a ticket of the master is needed')
      }
      const ticket = readTicket(access.runtimeKey, text, clock.now() / 1000)
      if (ticket === undefined)
        throw new HttpError(401, 'Unauthorized', 'the ticket is expired or not of this runtime: ask the master for a new one')
      return ticket.subPath
    },
    signed(request, body) {
      if (!isSigned(request, body)) throw new HttpError(401, 'Unauthorized', 'only the master and workers of this runtime may do this')
    },
  }
}
