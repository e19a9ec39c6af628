/**
 * The text of a request as JSON. Keys are plain data whatever their name. What the real server sees in the text and a
 * parsed value cannot show (repeated keys, the spelling of numbers) is returned along with the value.
 *
 * Integers: a JavaScript number is exact up to ±(2^53−1). A literal beyond is kept in `details.numbers`; code that gives
 * the value an integer type refuses it (`inexactInteger`), because storing another number than the one sent would be
 * worse. Beyond int64 Go itself falls back to a float in free-form data, and so do we.
 */
import type { Json } from '../base/json.ts'
import { type JsonDetails, JsonTextError, scanJson } from './json-scan.ts'

export { type JsonDetails, type JsonEntry, JsonTextError, strictPath } from './json-scan.ts'

export interface JsonLimits {
  /** Levels of nesting; Go accepts 10,000. */
  maxDepth?: number
}

export interface ParsedJson {
  value: Json
  /** Paths of keys that occur twice in one object (`spec.replicas`), in the order of the text; at most 100. */
  duplicates: string[]
  /** Absent when the text contains nothing beyond its value. */
  details?: JsonDetails
}

const MAX_DEPTH = 1000

/** Throws JsonTextError with Go's message when the text is no JSON. */
export function parseJsonText(source: Uint8Array | string, limits: JsonLimits = {}): ParsedJson {
  const maxDepth = limits.maxDepth ?? MAX_DEPTH
  const text = typeof source === 'string' ? source : decodeUtf8(source)
  const quick = parseQuickly(text, maxDepth)
  if (quick !== undefined) return { value: quick.value, duplicates: [] }
  const { value, duplicates, details } = scanJson(text, maxDepth)
  return details.entries.size === 0 && details.numbers.size === 0 ? { value, duplicates } : { value, duplicates, details }
}

/** Bytes that are no UTF-8 become replacement characters, as in Go; a byte order mark stays and is a syntax error. */
function decodeUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

/**
 * Most requests come from machines and are compact. When printing the parsed value yields the text again, the text has no
 * repeated key and no odd number, and both native calls together cost a fraction of scanning. Everything else is scanned.
 */
function parseQuickly(text: string, maxDepth: number): { value: Json } | undefined {
  if (text.includes('\\ud')) return undefined
  try {
    const value = JSON.parse(text) as Json
    if (text.length > 2 * maxDepth && deeperThan(value, maxDepth)) return undefined
    const compact = text.endsWith('\n') ? text.slice(0, -1) : text
    return JSON.stringify(value) === compact ? { value } : undefined
  } catch {
    // Not JSON, or nested too deep to be printed: the scan finds the message.
    return undefined
  }
}

function deeperThan(value: Json | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const item of value) if (deeperThan(item, levels - 1)) return true
    return false
  }
  for (const key of Object.keys(value)) if (deeperThan(value[key], levels - 1)) return true
  return false
}

const INTEGER = /^-?[0-9]+$/

/** True for an integer literal that int64 can hold and a JavaScript number cannot. */
export function isInexactInteger(literal: string): boolean {
  if (!INTEGER.test(literal) || literal.length > 20) return false
  const exact = BigInt(literal)
  return exact === BigInt.asIntN(64, exact) && BigInt(Number(literal)) !== exact
}

/** The message for refusing one. */
export const inexactInteger = (literal: string, where: string): string =>
  `number ${literal}${where === '' ? '' : ` of ${where}`} cannot be kept exactly: integers between -(2^53-1) and 2^53-1 are supported; send it as a string if the field allows`

/** Refuses free-form data that holds an integer which would be stored as another one. */
export function refuseInexactIntegers(details: JsonDetails | undefined): void {
  for (const texts of details?.numbers.values() ?? []) {
    for (const [key, literal] of texts) {
      if (isInexactInteger(literal)) throw new JsonTextError(inexactInteger(literal, String(key)))
      if (!Number.isFinite(Number(literal)))
        throw new JsonTextError(`json: cannot unmarshal number ${literal} into Go value of type float64`)
    }
  }
}
