/**
 * JSON read as Go reads it: the same acceptance, the same messages for syntax errors, and a record of what JavaScript's own
 * parser hides: repeated keys in their order, and numbers whose text carries more than their value (1.0, 1e3, integers
 * beyond 2^53). Slower than JSON.parse; json-text.ts calls it only when it matters.
 */
import { type Json, type JsonObject, setOwn } from '../base/json.ts'
import { goQuote } from './go-print.ts'

export type JsonEntry = readonly [key: string, value: Json, literal?: string]

/** What the text contains beyond its value. */
export interface JsonDetails {
  /** Objects with a repeated key: every entry in the order of the text, with the text of an odd number. */
  readonly entries: ReadonlyMap<object, readonly JsonEntry[]>
  /** By object or list, then key or index: the text of numbers that JavaScript would print differently. */
  readonly numbers: ReadonlyMap<object, ReadonlyMap<string | number, string>>
}

/** A text that is no JSON; the message is Go's. */
export class JsonTextError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'JsonTextError'
  }
}

interface Scan {
  readonly text: string
  readonly maxDepth: number
  at: number
  depth: number
  /** Text of the number just read if it is an odd one. */
  oddNumber: string | undefined
  readonly path: (string | number)[]
  readonly duplicates: Set<string>
  readonly entries: Map<object, JsonEntry[]>
  readonly numbers: Map<object, Map<string | number, string>>
}

/** Go stops counting strict errors here. */
const MAX_STRICT_ERRORS = 100

export interface ScannedJson {
  value: Json
  /** Paths of repeated keys, in the order of the text, each once. */
  duplicates: string[]
  details: JsonDetails
}

export function scanJson(text: string, maxDepth: number): ScannedJson {
  const scan: Scan = {
    text,
    maxDepth,
    at: 0,
    depth: 0,
    oddNumber: undefined,
    path: [],
    duplicates: new Set(),
    entries: new Map(),
    numbers: new Map(),
  }
  const value = readValue(scan)
  skipSpace(scan)
  if (scan.at < text.length) throw unexpected(scan, 'after top-level value')
  return { value, duplicates: [...scan.duplicates], details: { entries: scan.entries, numbers: scan.numbers } }
}

/** `spec.list[0].name`: how strict errors name a field. */
export function strictPath(path: readonly (string | number)[]): string {
  let out = ''
  for (const step of path) out += typeof step === 'number' ? `[${step}]` : out === '' ? step : `.${step}`
  return out
}

const ended = (): JsonTextError => new JsonTextError('unexpected end of JSON input')

/** Go's error about the byte at the current position; `atEnd` is where Go feeds its scanner one more space. */
function unexpected(scan: Scan, context: string, atEnd = false): JsonTextError {
  if (scan.at >= scan.text.length && !atEnd) return ended()
  const code = scan.at >= scan.text.length ? 0x20 : (scan.text.codePointAt(scan.at) ?? 0x20)
  return new JsonTextError(`invalid character ${quotedByte(firstByte(code))} ${context}`)
}

/** Go looks at bytes: a character beyond ASCII is reported as the first byte of its UTF-8 form. */
function firstByte(code: number): number {
  if (code < 0x80) return code
  if (code < 0x800) return 0xc0 | (code >> 6)
  if (code < 0x10000) return 0xe0 | (code >> 12)
  return 0xf0 | (code >> 18)
}

function quotedByte(byte: number): string {
  if (byte === 0x27) return "'\\''"
  if (byte === 0x22) return `'"'`
  return `'${goQuote(String.fromCharCode(byte)).slice(1, -1)}'`
}

function skipSpace(scan: Scan): void {
  const { text } = scan
  let at = scan.at
  for (; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break
  }
  scan.at = at
}

function readValue(scan: Scan): Json {
  skipSpace(scan)
  scan.oddNumber = undefined
  switch (scan.text[scan.at]) {
    case '{':
      return nested(scan, readObject)
    case '[':
      return nested(scan, readList)
    case '"':
      return readString(scan)
    case 't':
      return readWord(scan, 'true', true)
    case 'f':
      return readWord(scan, 'false', false)
    case 'n':
      return readWord(scan, 'null', null)
    default:
      return readNumber(scan)
  }
}

function nested(scan: Scan, read: (scan: Scan) => Json): Json {
  if (scan.depth >= scan.maxDepth) throw unexpected(scan, `exceeded max depth (${scan.maxDepth} levels are accepted)`)
  scan.depth++
  scan.at++
  const value = read(scan)
  scan.oddNumber = undefined
  scan.depth--
  return value
}

function readObject(scan: Scan): Json {
  const object: JsonObject = {}
  let repeated = false
  const entries: JsonEntry[] = []
  skipSpace(scan)
  if (scan.text[scan.at] === '}') {
    scan.at++
    return object
  }
  for (;;) {
    skipSpace(scan)
    if (scan.text[scan.at] !== '"') throw unexpected(scan, 'looking for beginning of object key string')
    const key = readString(scan)
    skipSpace(scan)
    if (scan.text[scan.at] !== ':') throw unexpected(scan, 'after object key')
    scan.at++
    if (Object.hasOwn(object, key)) {
      repeated = true
      if (scan.duplicates.size < MAX_STRICT_ERRORS) scan.duplicates.add(strictPath([...scan.path, key]))
    }
    scan.path.push(key)
    const value = readValue(scan)
    scan.path.pop()
    noteNumber(scan, object, key)
    setOwn(object, key, value)
    entries.push([key, value, scan.oddNumber])
    skipSpace(scan)
    const next = scan.text[scan.at]
    if (next !== ',' && next !== '}') throw unexpected(scan, 'after object key:value pair')
    scan.at++
    if (next === '}') break
  }
  if (repeated) scan.entries.set(object, entries)
  return object
}

function readList(scan: Scan): Json {
  const list: Json[] = []
  skipSpace(scan)
  if (scan.text[scan.at] === ']') {
    scan.at++
    return list
  }
  for (;;) {
    scan.path.push(list.length)
    const value = readValue(scan)
    scan.path.pop()
    noteNumber(scan, list, list.length)
    list.push(value)
    skipSpace(scan)
    const next = scan.text[scan.at]
    if (next !== ',' && next !== ']') throw unexpected(scan, 'after array element')
    scan.at++
    if (next === ']') return list
  }
}

function noteNumber(scan: Scan, container: object, key: string | number): void {
  if (scan.oddNumber === undefined) return
  const texts = scan.numbers.get(container) ?? new Map<string | number, string>()
  texts.set(key, scan.oddNumber)
  scan.numbers.set(container, texts)
}

function readWord<T extends Json>(scan: Scan, word: string, value: T): T {
  for (let i = 1; i < word.length; i++) {
    scan.at++
    if (scan.text[scan.at] !== word[i]) throw unexpected(scan, `in literal ${word} (expecting '${word[i]}')`, true)
  }
  scan.at++
  return value
}

const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39

function skipDigits(scan: Scan): void {
  while (isDigit(scan.text.charCodeAt(scan.at))) scan.at++
}

function readNumber(scan: Scan): number {
  const { text } = scan
  const start = scan.at
  const first = text.charCodeAt(start)
  if (first !== 0x2d && !isDigit(first)) throw unexpected(scan, 'looking for beginning of value')
  if (first === 0x2d) scan.at++
  const leading = text.charCodeAt(scan.at)
  if (!isDigit(leading)) throw unexpected(scan, 'in numeric literal', true)
  if (leading === 0x30) scan.at++
  else skipDigits(scan)
  if (text[scan.at] === '.') {
    scan.at++
    if (!isDigit(text.charCodeAt(scan.at))) throw unexpected(scan, 'after decimal point in numeric literal', true)
    skipDigits(scan)
  }
  if (text[scan.at] === 'e' || text[scan.at] === 'E') {
    scan.at++
    if (text[scan.at] === '+' || text[scan.at] === '-') scan.at++
    if (!isDigit(text.charCodeAt(scan.at))) throw unexpected(scan, 'in exponent of numeric literal', true)
    skipDigits(scan)
  }
  const literal = text.slice(start, scan.at)
  const value = Number(literal)
  if (String(value) !== literal) scan.oddNumber = literal
  // Infinity could not be written as JSON again; the reader of `numbers` refuses such a literal with Go's message.
  return Number.isFinite(value) && value !== 0 ? value : 0
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

function readString(scan: Scan): string {
  const { text } = scan
  let out = ''
  let from = scan.at + 1
  for (let at = from; ; at++) {
    if (at >= text.length) throw ended()
    const c = text.charCodeAt(at)
    if (c === 0x22) {
      scan.at = at + 1
      return wellFormed(out + text.slice(from, at))
    }
    if (c < 0x20) {
      scan.at = at
      throw unexpected(scan, 'in string literal')
    }
    if (c !== 0x5c) continue
    out += text.slice(from, at)
    scan.at = at + 1
    out += readEscape(scan)
    at = scan.at - 1
    from = scan.at
  }
}

/** Reads after the backslash and leaves `at` after the escape. */
function readEscape(scan: Scan): string {
  const letter = scan.text[scan.at] ?? ''
  if (Object.hasOwn(ESCAPES, letter)) {
    scan.at++
    return ESCAPES[letter] ?? ''
  }
  if (letter !== 'u') throw unexpected(scan, 'in string escape code', true)
  let code = 0
  for (let i = 0; i < 4; i++) {
    scan.at++
    const digit = scan.text[scan.at] ?? ''
    if (!/^[0-9a-fA-F]$/.test(digit)) throw unexpected(scan, 'in \\u hexadecimal character escape', true)
    code = code * 16 + Number.parseInt(digit, 16)
  }
  scan.at++
  return String.fromCharCode(code)
}

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Go holds UTF-8, which cannot express half a surrogate pair: it becomes the replacement character. */
function wellFormed(text: string): string {
  return /[\ud800-\udfff]/.test(text) ? text.replace(LONE_SURROGATE, '\ufffd') : text
}
