/**
 * Values as Go prints them. Messages of the real server quote and print values with strconv.Quote, `%v` and
 * encoding/json, which differ from JSON.stringify in escapes, in the order of keys and in the form of numbers.
 */
const ESCAPES: Readonly<Record<string, string>> = {
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

/** Everything strconv.Quote leaves alone: letters, marks, numbers, punctuation, symbols and the plain space. */
const PLAIN = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/** True for what Go's unicode.IsPrint accepts. */
export const isPrintable = (char: string): boolean => PRINTABLE.test(char)

/** A string as `%q` prints it. */
export function goQuote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  let out = '"'
  for (const char of text) out += quoteChar(char)
  return `${out}"`
}

function quoteChar(char: string): string {
  const escaped = ESCAPES[char]
  if (escaped !== undefined) return escaped
  if (isPrintable(char)) return char
  const code = char.codePointAt(0) ?? 0
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  // A lone surrogate cannot exist in Go's UTF-8: it was decoded as the replacement character.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
}

/** How package time quotes what it could not parse: every byte outside printable ASCII as an escape. */
export function goTimeQuote(text: string): string {
  let out = '"'
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte)
    if (char === '"' || char === '\\') out += `\\${char}`
    else out += byte < 0x20 || byte >= 0x80 ? `\\x${byte.toString(16).padStart(2, '0')}` : char
  }
  return `${out}"`
}

/** A JSON value as `%v` prints the Go value it decodes to: `map[a:1 b:[x y]]`, keys sorted, nothing as `<nil>`. */
export function goPrint(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`
  if (typeof value === 'object') {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined)
    entries.sort(([a], [b]) => compareStrings(a, b))
    return `map[${entries.map(([key, item]) => `${key}:${goPrint(item)}`).join(' ')}]`
  }
  return typeof value === 'number' ? goNumber(value) : String(value)
}

/** Integers stay integers (the server decodes them as int64); other numbers print as `%v` of a float64. */
function goNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value).toString()
  const scientific = value.toExponential()
  const exponent = Number(scientific.slice(scientific.indexOf('e') + 1))
  if (exponent >= -4 && exponent < 6) return value.toString()
  // Go writes at least two digits of exponent.
  return scientific.replace(/e([+-])(\d)$/, 'e$10$2')
}

/** JSON as encoding/json writes it: no spaces, and `<`, `>`, `&` and the line separators escaped. */
export function goJson(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The order of Go's sort.Strings: by UTF-8 bytes, which is by code point (JavaScript's `<` goes by UTF-16 unit). */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    // Surrogates sort after everything else of the basic plane.
    const xSurrogate = x >= 0xd800 && x <= 0xdfff
    const ySurrogate = y >= 0xd800 && y <= 0xdfff
    if (xSurrogate !== ySurrogate) return xSurrogate ? 1 : -1
    return x - y
  }
  return a.length - b.length
}

/** Length in UTF-8 bytes: what Go's len() of a string is, and what limits are stated in. */
export const byteLength = (text: string): number => Buffer.byteLength(text)
