/**
 * Requests between programs that hold the runtime's key: `Authorization: Sluice-Key <seconds>.<mac>`. The MAC covers method,
 * target (path and query as sent), time and body, so a request that was overheard opens nothing but itself, for a few minutes.
 * Bodies that are streamed are not covered (`'streamed'`): whoever sends one is known, what it sends is checked by its CRC.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

export interface SignedParts {
  method: string
  /** Path and query, exactly as in the request line. */
  target: string
  body?: Uint8Array | 'streamed'
}

/** Clocks of two machines may differ by this much. */
const LEEWAY_SECONDS = 300
const SCHEME = 'Sluice-Key'
const HEADER = /^Sluice-Key ([0-9]{1,12})\.([0-9a-f]{64})$/

/** The value of the `authorization` header. */
export function signRequest(runtimeKey: Uint8Array, parts: SignedParts, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000)
  return `${SCHEME} ${seconds}.${macOf(runtimeKey, parts, seconds).toString('hex')}`
}

export function isSigned(runtimeKey: Uint8Array, parts: SignedParts & { authorization: string | undefined; nowMs: number }): boolean {
  const match = HEADER.exec(parts.authorization ?? '')
  if (match === null) return false
  const seconds = Number(match[1])
  if (Math.abs(parts.nowMs / 1000 - seconds) > LEEWAY_SECONDS) return false
  return timingSafeEqual(Buffer.from(match[2] ?? '', 'hex'), macOf(runtimeKey, parts, seconds))
}

/** True when a request claims to be signed, whether or not it is. */
export const claimsSignature = (authorization: string | undefined): boolean => authorization?.startsWith(`${SCHEME} `) === true

function macOf(runtimeKey: Uint8Array, { method, target, body }: SignedParts, seconds: number): Buffer {
  const content =
    body === 'streamed'
      ? body
      : createHash('sha256')
          .update(body ?? '')
          .digest('hex')
  return createHmac('sha256', runtimeKey).update(`request\n${method}\n${target}\n${seconds}\n${content}`).digest()
}
