/**
 * The hashes in the names of revisions. The one of a StatefulSet's revision is, letter for letter, the one that
 * kube-controller-manager computes: FNV-1 over the bytes of the data. The one of a DaemonSet's goes over the text of the
 * template instead of over the memory layout of a Go struct, so it has the same form but other letters.
 */
import { setOwn } from '../../../base/json.ts'
import { compareStrings, goJson } from '../../../kube/go-print.ts'

const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/** The letters of generated names. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

/** Of the data of a StatefulSet's revision; `probe` tells apart what collides. */
export function dataHash(data: unknown, probe: number): string {
  let hash = OFFSET
  for (const byte of Buffer.from(`${goJson(inKeyOrder(data))}${probe}`)) hash = (Math.imul(hash, PRIME) ^ byte) >>> 0
  return safeEncode(String(hash))
}

/** Of a pod template, as it is used in labels of pods. */
export function templateHash(template: unknown, collisionCount: number | undefined): string {
  let hash = OFFSET
  for (const byte of Buffer.from(goJson(inKeyOrder(template)))) hash = Math.imul(hash ^ byte, PRIME) >>> 0
  if (collisionCount !== undefined) {
    const count = Buffer.alloc(8)
    count.writeUInt32LE(collisionCount >>> 0)
    for (const byte of count) hash = Math.imul(hash ^ byte, PRIME) >>> 0
  }
  return safeEncode(String(hash))
}

/** rand.SafeEncodeString: digits become letters that spell nothing. */
function safeEncode(text: string): string {
  let out = ''
  for (let i = 0; i < text.length; i++) out += ALPHABET[text.charCodeAt(i) % ALPHABET.length]
  return out
}

/** As Go prints maps: keys sorted on every level. */
function inKeyOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inKeyOrder)
  if (typeof value !== 'object' || value === null) return value
  const sorted = {}
  for (const [key, item] of Object.entries(value).sort(([a], [b]) => compareStrings(a, b))) setOwn(sorted, key, inKeyOrder(item))
  return sorted
}
