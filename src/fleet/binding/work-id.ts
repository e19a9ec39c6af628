/**
 * The permanent id of a Work, derived from its binding's id and its cluster: a Work that was deleted by mistake comes back
 * with the same id, so that its object in the member need not change. Admission gives a random one to Works that have none.
 */
import { createHash } from 'node:crypto'

export function workId(bindingId: string, cluster: string): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify([bindingId, cluster]))
    .digest()
    .subarray(0, 16)
  // UUID version 8 (RFC 9562) leaves the other bits to the implementation.
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
