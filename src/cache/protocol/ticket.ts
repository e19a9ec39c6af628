/**
 * What lets a client read: the master signs it with the runtime's key, workers check the signature alone. `<payload>.<mac>`,
 * both base64url. Times are seconds since 1970.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

export interface Ticket {
  /** Namespace of whoever reads. */
  namespace: string
  /** The part of the dataset it opens: absolute and clean, `/` for all of it. */
  subPath: string
  mode: 'read' | 'write'
  expiresAt: number
}

const LONGEST_TICKET = 8192

export function signTicket(runtimeKey: Uint8Array, ticket: Ticket): string {
  const payload = Buffer.from(JSON.stringify(ticket)).toString('base64url')
  return `${payload}.${macOf(runtimeKey, payload)}`
}

/** Undefined: not signed with this key, expired, or not a ticket at all. */
export function readTicket(runtimeKey: Uint8Array, text: string, nowSeconds: number): Ticket | undefined {
  if (text.length > LONGEST_TICKET) return undefined
  const [payload = '', mac = '', ...more] = text.split('.')
  if (more.length > 0) return undefined
  const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(runtimeKey, payload))]
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  // The signature is ours, so the content is, too.
  const ticket = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Ticket
  return ticket.expiresAt > nowSeconds ? ticket : undefined
}

const macOf = (runtimeKey: Uint8Array, payload: string): string =>
  createHmac('sha256', runtimeKey).update(`ticket ${payload}`).digest('base64url')
