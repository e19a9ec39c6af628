/**
 * Values as Go writes them: JSON with sorted keys and HTML escapes (the text inside field paths and in the last-applied
 * annotation), `%v`, `%#v` and `%T` (the text inside messages). Clients compare these texts, so they are part of the wire.
 */
import { compareStrings, goQuote } from '../go-print.ts'

const HTML_ESCAPES: Record<string, string> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what must be escaped
const NEEDS_ESCAPE = /[<>&"\\\u0000-\u001f\u2028\u2029\ud800-\udfff]/

/** Strings as encoding/json writes them: beyond JSON's own rules, what could end a script element is escaped. */
function goJsonString(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, (c) => HTML_ESCAPES[c] ?? c)
}

/** JSON as it stands inside path elements. Their encoder (jsoniter) knows no short forms for backspace and form feed. */
export function elementJson(value: unknown): string {
  const text = goJson(value)
  if (!text.includes('\\')) return text
  return text.replace(/\\\\|\\[bf]/g, (c) => (c === '\\b' ? '\\u0008' : c === '\\f' ? '\\u000c' : c))
}

/** Any JSON value as encoding/json writes a map: keys in byte order, no spaces. */
export function goJson(value: unknown): string {
  if (typeof value === 'string') return goJsonString(value)
  if (value === null || value === undefined) return 'null'
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`
  const map = value as Record<string, unknown>
  const keys = Object.keys(map).filter((key) => map[key] !== undefined)
  return `{${keys
    .sort(compareStrings)
    .map((key) => `${goJsonString(key)}:${goJson(map[key])}`)
    .join(',')}}`
}

/** `%v` of a number that came from JSON, that is, of a float64: exponents from a million on. */
export function goNumber(value: number): string {
  const exponential = value.toExponential()
  const exponent = Number(exponential.slice(exponential.indexOf('e') + 1))
  if (value === 0 || (exponent >= -4 && exponent < 6)) return String(value)
  const digits = Math.abs(exponent).toString().padStart(2, '0')
  return `${exponential.slice(0, exponential.indexOf('e'))}e${exponent < 0 ? '-' : '+'}${digits}`
}

/** `%v` of a decoded JSON value. */
export function goFormat(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value === 'number') return goNumber(value)
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[${value.map(goFormat).join(' ')}]`
  const map = value as Record<string, unknown>
  return `map[${Object.keys(map)
    .sort(compareStrings)
    .map((key) => `${key}:${goFormat(map[key])}`)
    .join(' ')}]`
}

/** `%#v` of a decoded JSON value. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number') return goNumber(value)
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  const map = value as Record<string, unknown>
  return `map[string]interface {}{${Object.keys(map)
    .sort(compareStrings)
    .map((key) => `${goQuote(key)}:${goSyntax(map[key])}`)
    .join(', ')}}`
}

/** `%T` of a decoded JSON value. */
export function goTypeName(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return 'float64'
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}
