/**
 * Values as Go writes them: JSON with sorted keys and HTML escapes (the text inside field paths and in the last-applied
 * annotation), `%q`, `%v` and `%#v` (the text inside messages). Clients compare these texts, so they are part of the wire.
 */

// Beyond JSON's own rules Go escapes what could end a script element, and has no short forms for backspace and form feed.
const JSON_ESCAPES: Record<string, string> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what must be escaped
const NEEDS_ESCAPE = /[<>&"\\\u0000-\u001f\u2028\u2029\ud800-\udfff]/

/** Strings as encoding/json writes them. */
export function goJsonString(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`
  return JSON.stringify(text)
    .replace(/[<>&\u2028\u2029]/g, (c) => JSON_ESCAPES[c] ?? c)
    .replace(/\\\\|\\[bf]/g, (c) => (c === '\\b' ? '\\u0008' : c === '\\f' ? '\\u000c' : c))
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
    .sort(compareBytes)
    .map((key) => `${goJsonString(key)}:${goJson(map[key])}`)
    .join(',')}}`
}

/** Order of two strings by their UTF-8 bytes, which is Go's; UTF-16 differs for surrogates against U+E000 and above. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    const xSurrogate = x >= 0xd800 && x <= 0xdfff
    const ySurrogate = y >= 0xd800 && y <= 0xdfff
    if (xSurrogate !== ySurrogate) {
      if (xSurrogate && y >= 0xe000) return 1
      if (ySurrogate && x >= 0xe000) return -1
    }
    return x < y ? -1 : 1
  }
  return a.length < b.length ? -1 : 1
}

const QUOTE_ESCAPES: Record<string, string> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
}

/** `%q` of a string. */
export function goQuote(text: string): string {
  let out = ''
  for (const char of text) {
    const short = QUOTE_ESCAPES[char]
    const code = char.codePointAt(0) ?? 0
    if (short !== undefined) out += short
    else if (code < 0x20 || code === 0x7f) out += `\\x${code.toString(16).padStart(2, '0')}`
    else if (/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(char)) {
      out += code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
    } else out += char
  }
  return `"${out}"`
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
    .sort(compareBytes)
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
    .sort(compareBytes)
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
