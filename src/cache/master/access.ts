/**
 * Who may ask the master what: holders of the runtime's key (workers, commands) everything, clients with a ticket what lies below
 * its path, and whoever shows a token of an allowed namespace gets a ticket. Without a runtime's key everybody may everything.
 */
import { isJsonObject } from '../../base/json.ts'
import { datasetPath, isBelow } from '../config/paths.ts'
import { HttpError } from '../http/errors.ts'
import type { Exchange } from '../http/server.ts'
import { claimsSignature, isSigned } from '../http/signed.ts'
import { readTicket, signTicket, type Ticket } from '../protocol/ticket.ts'
import type { TokenVerifier } from './token-verifier.ts'

export interface Grant {
  namespace: string
  subPath: string
}

export interface AccessOptions {
  key: Uint8Array | undefined
  nowMs(): number
  verifier: TokenVerifier
  /** Whoever may read besides the dataset's own namespace. Asked for each ticket. */
  grants(): Promise<readonly Grant[]>
  namespace: string
  isWritable(): boolean
}

export interface Access {
  /** Throws HttpError 401 unless the request is signed. */
  requireKey(exchange: Exchange): Promise<Buffer>
  /** The path that the request may read; `/` for holders of the key. */
  readable(exchange: Exchange): string
  ticket(request: unknown): Promise<{ ticket: string; expiresAt: number }>
}

const TICKET_SECONDS = 3600
const MOST_GRANTS = 10_000

export function createAccess(options: AccessOptions): Access {
  const { key, nowMs, verifier, grants, namespace: own, isWritable } = options
  const isSignedBy = (exchange: Exchange, body: Buffer | undefined): boolean =>
    key !== undefined &&
    isSigned(key, { method: exchange.method, target: exchange.target, body, authorization: exchange.headers.authorization, nowMs: nowMs() })
  return {
    async requireKey(exchange) {
      // Who does not even claim it is refused before the body is read.
      if (key !== undefined && !claimsSignature(exchange.headers.authorization)) throw unsigned()
      const body = await exchange.body()
      if (key !== undefined && !isSignedBy(exchange, body)) throw unsigned()
      return body
    },
    readable(exchange) {
      if (key === undefined) return '/'
      const { authorization = '' } = exchange.headers
      if (claimsSignature(authorization)) {
        if (isSignedBy(exchange, undefined)) return '/'
        throw unsigned()
      }
      const ticket = authorization.startsWith('Bearer ') ? readTicket(key, authorization.slice(7), nowMs() / 1000) : undefined
      if (ticket === undefined) throw new HttpError(401, 'NoTicket', 'a valid ticket is needed: ask for one with POST /v1/tickets')
      return ticket.subPath
    },
    async ticket(request) {
      const { token, subPath, mode } = ticketRequest(request)
      const expiresAt = Math.floor(nowMs() / 1000) + TICKET_SECONDS
      if (key === undefined) return { ticket: '', expiresAt }
      const verdict = await verifier.verify(token)
      if ('error' in verdict) throw new HttpError(401, 'BadToken', verdict.error)
      const { namespace } = verdict
      const isOwn = namespace === own
      const isGranted = isOwn || (await grants()).some((grant) => grant.namespace === namespace && isBelow(subPath, grant.subPath))
      if (!isGranted)
        throw new HttpError(
          403,
          'NotGranted',
          `namespace ${namespace} may not read ${subPath} of this dataset: ask the owner of namespace ${own} for a ReferenceGrant`,
        )
      if (mode === 'write' && !(isOwn && isWritable())) throw new HttpError(403, 'ReadOnly', 'this dataset cannot be written by you')
      const ticket: Ticket = { namespace, subPath, mode, expiresAt }
      return { ticket: signTicket(key, ticket), expiresAt }
    },
  }
}

const unsigned = () => new HttpError(401, 'NotSigned', "this needs a request that is signed with the runtime's key, and clocks that agree")

function ticketRequest(value: unknown): { token: string; subPath: string; mode: Ticket['mode'] } {
  const { token = '', subPath = '/', mode = 'read' } = isJsonObject(value) ? value : {}
  const path = typeof subPath === 'string' ? datasetPath(subPath) : undefined
  if (typeof token !== 'string' || path === undefined || (mode !== 'read' && mode !== 'write'))
    throw new HttpError(400, 'BadRequest', 'token, subPath (absolute and clean) and mode (read or write) are needed')
  return { token, subPath: path, mode }
}

/** namespaces.json; what is not a grant is left out, because leaving out opens nothing. */
export function readGrants(text: string): Grant[] {
  const parsed: unknown = JSON.parse(text)
  if (!Array.isArray(parsed)) throw new SyntaxError('not a list')
  return parsed.slice(0, MOST_GRANTS).flatMap((value: unknown) => {
    if (!isJsonObject(value) || typeof value.namespace !== 'string') return []
    const subPath = datasetPath(typeof value.subPath === 'string' ? value.subPath : '\0')
    return subPath === undefined ? [] : [{ namespace: value.namespace, subPath }]
  })
}
