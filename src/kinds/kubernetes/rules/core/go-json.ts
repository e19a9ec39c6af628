/**
 * The error Go's encoding/json gives for a text that should be a JSON object: it becomes part of validation messages.
 * A small scanner that follows the same states; undefined means that the text is fine.
 */
/** Less than Go's own limit: deeper nesting is no real configuration, and could overflow this process's stack. */
const MAX_DEPTH = 1000

const quoteChar = (char: string): string => (char === "'" ? `'\\''` : char === '"' ? `'"'` : `'${JSON.stringify(char).slice(1, -1)}'`)

class JsonProblem extends Error {}

interface Scan {
  text: string
  at: number
}

export function goJsonObjectError(text: string): string | undefined {
  const scan: Scan = { text, at: 0 }
  try {
    skipSpace(scan)
    const first = scan.text[scan.at]
    value(scan, 0)
    skipSpace(scan)
    if (scan.at < text.length) fail(scan, 'after top-level value')
    const kind = kindOf(first)
    return kind === undefined ? undefined : `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`
  } catch (error) {
    if (error instanceof JsonProblem) return error.message
    throw error
  }
}

function kindOf(first: string | undefined): string | undefined {
  if (first === '[') return 'array'
  if (first === '"') return 'string'
  if (first === 't' || first === 'f') return 'bool'
  if (first === '{' || first === 'n') return undefined
  return 'number'
}

function fail(scan: Scan, context: string): never {
  const code = scan.text.codePointAt(scan.at)
  if (code === undefined) throw new JsonProblem('unexpected end of JSON input')
  throw new JsonProblem(`invalid character ${quoteChar(String.fromCodePoint(code))} ${context}`)
}

function skipSpace(scan: Scan): void {
  while (' \t\r\n'.includes(scan.text[scan.at] ?? 'x')) scan.at++
}

function value(scan: Scan, depth: number): void {
  if (depth > MAX_DEPTH) throw new JsonProblem('exceeded max depth')
  const char = scan.text[scan.at]
  if (char === '{') objectValue(scan, depth)
  else if (char === '[') arrayValue(scan, depth)
  else if (char === '"') stringValue(scan)
  else if (char === 't') literal(scan, 'true')
  else if (char === 'f') literal(scan, 'false')
  else if (char === 'n') literal(scan, 'null')
  else if (char !== undefined && /[-0-9]/.test(char)) numberValue(scan)
  else fail(scan, 'looking for beginning of value')
}

function literal(scan: Scan, word: string): void {
  scan.at++
  for (const expected of word.slice(1)) {
    if (scan.text[scan.at] !== expected) fail(scan, `in literal ${word} (expecting ${quoteChar(expected)})`)
    scan.at++
  }
}

function stringValue(scan: Scan): void {
  scan.at++
  for (;;) {
    const char = scan.text[scan.at]
    if (char === undefined || char < ' ') fail(scan, 'in string literal')
    scan.at++
    if (char === '"') return
    if (char === '\\') escapeCode(scan)
  }
}

function escapeCode(scan: Scan): void {
  const char = scan.text[scan.at]
  if (char === undefined || !'"\\/bfnrtu'.includes(char)) fail(scan, 'in string escape code')
  scan.at++
  if (char !== 'u') return
  for (let i = 0; i < 4; i++, scan.at++)
    if (!/^[0-9a-fA-F]$/.test(scan.text[scan.at] ?? '')) fail(scan, 'in \\u hexadecimal character escape')
}

const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9'

function numberValue(scan: Scan): void {
  if (scan.text[scan.at] === '-') scan.at++
  if (scan.text[scan.at] === '0') scan.at++
  else digits(scan, 'in numeric literal')
  if (scan.text[scan.at] === '.') {
    scan.at++
    digits(scan, 'after decimal point in numeric literal')
  }
  if (scan.text[scan.at] === 'e' || scan.text[scan.at] === 'E') {
    scan.at++
    if (scan.text[scan.at] === '+' || scan.text[scan.at] === '-') scan.at++
    digits(scan, 'in exponent of numeric literal')
  }
}

function digits(scan: Scan, context: string): void {
  if (!isDigit(scan.text[scan.at])) fail(scan, context)
  while (isDigit(scan.text[scan.at])) scan.at++
}

function objectValue(scan: Scan, depth: number): void {
  scan.at++
  skipSpace(scan)
  if (scan.text[scan.at] === '}') {
    scan.at++
    return
  }
  for (;;) {
    skipSpace(scan)
    if (scan.text[scan.at] !== '"') fail(scan, 'looking for beginning of object key string')
    stringValue(scan)
    skipSpace(scan)
    if (scan.text[scan.at] !== ':') fail(scan, 'after object key')
    scan.at++
    skipSpace(scan)
    value(scan, depth + 1)
    skipSpace(scan)
    const end = scan.text[scan.at]
    if (end !== ',' && end !== '}') fail(scan, 'after object key:value pair')
    scan.at++
    if (end === '}') return
  }
}

function arrayValue(scan: Scan, depth: number): void {
  scan.at++
  skipSpace(scan)
  if (scan.text[scan.at] === ']') {
    scan.at++
    return
  }
  for (;;) {
    skipSpace(scan)
    value(scan, depth + 1)
    skipSpace(scan)
    const end = scan.text[scan.at]
    if (end !== ',' && end !== ']') fail(scan, 'after array element')
    scan.at++
    if (end === ']') return
  }
}
