/**
 * The hash in the name of a StatefulSet's revision: letter for letter the one that kube-controller-manager computes, which
 * is FNV-1 over the bytes of the data as Go prints them.
 */
import { setOwn } from '../../../base/json.ts'
import { compareStrings, goJson } from '../../../kube/go-print.ts'

const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/** The letters of generated names. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

/** `probe` distinguishes colliding data. */
export function dataHash(data: unknown, probe: number): string {
  let hash = OFFSET
  for (const byte of Buffer.from(`${goJson(inKeyOrder(data))}${probe}`)) hash = (Math.imul(hash, PRIME) ^ byte) >>> 0
  return safeEncode(String(hash))
}

/** rand.SafeEncodeString: digits become letters that do not spell words. */
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
