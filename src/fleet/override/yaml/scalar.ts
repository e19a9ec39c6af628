/**
 * Scalars as go-yaml v2 writes them: plain where that loses nothing, in double quotes if they would be read as another
 * type, in single quotes if they would break the syntax, as a literal block if they have several lines.
 */
import { resolvePlain } from '../../../kube/yaml-scalars.ts'

/** Long texts are folded at the first space after this column. */
const BEST_WIDTH = 80

export interface Place {
  /** The indentation after a line break. */
  indent: number
  /** The column at which the text begins. */
  column: number
  isKey: boolean
}

export function printText(text: string, place: Place): string {
  const traits = traitsOf(text)
  if (text.includes('\n')) return traits.mayBeBlock && !place.isKey ? literal(text, place.indent) : doubleQuoted(text, place)
  if (isReadOtherwise(text)) return doubleQuoted(text, place)
  if (traits.mayBePlain) return folded(text, place)
  return traits.maySingleQuote ? singleQuoted(text, place) : doubleQuoted(text, place)
}

/** Whether a text without quotes would be read as a number, a boolean, null or a time. */
const isReadOtherwise = (text: string): boolean => typeof resolvePlain(text) !== 'string' || BASE_60.test(text) || isTimestamp(text)

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/
const TIMESTAMP =
  /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:(?:[Tt]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2}))|(?: ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?))?$/

/** One of the four forms of time that go-yaml reads, with a day that exists. */
function isTimestamp(text: string): boolean {
  const match = TIMESTAMP.exec(text)
  if (match === null) return false
  const [, year, month, day, hour = match[7] ?? 0, minute = match[8] ?? 0, second = match[9] ?? 0] = match
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)))
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  const isDay = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
  return isDay && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
}

interface Traits {
  mayBePlain: boolean
  maySingleQuote: boolean
  mayBeBlock: boolean
}

const BEGINS_SYNTAX = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|$))/
const HOLDS_SYNTAX = /:(?:[ \t]|$)|[ \t\n\r\u0085\u2028\u2029]#/
const BREAK = '[\\n\\r\\u0085\\u2028\\u2029]'
const AT_AN_END = new RegExp(`^(?: |${BREAK})|(?: |${BREAK})$`)
const BREAK_THEN_SPACE = new RegExp(`${BREAK} `)
const SPACE_THEN_BREAK = new RegExp(` ${BREAK}`)
const ANY_BREAK = new RegExp(BREAK)
/** A tab counts, and so does everything beyond the Basic Multilingual Plane. */
const UNPRINTABLE = /[^\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u

function traitsOf(text: string): Traits {
  const isUnprintable = UNPRINTABLE.test(text) || SPACE_THEN_BREAK.test(text)
  const isBrokenOddly = BREAK_THEN_SPACE.test(text)
  return {
    mayBePlain: !isUnprintable && !ANY_BREAK.test(text) && !AT_AN_END.test(text) && !BEGINS_SYNTAX.test(text) && !HOLDS_SYNTAX.test(text),
    maySingleQuote: !isUnprintable && !isBrokenOddly,
    mayBeBlock: !isUnprintable && !text.endsWith(' '),
  }
}

/** A space beyond the best width becomes a line break, unless another space is next to it. */
function folded(text: string, { indent, column, isKey }: Place, isInner: (index: number) => boolean = () => true): string {
  if (isKey) return text
  let out = ''
  let at = column
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string
    const isFold = char === ' ' && text[i - 1] !== ' ' && text[i + 1] !== ' ' && at > BEST_WIDTH && isInner(i)
    out += isFold ? `\n${' '.repeat(indent)}` : char
    at = isFold ? indent : at + 1
  }
  return out
}

function singleQuoted(text: string, place: Place): string {
  const inner = text.replaceAll("'", "''")
  return `'${folded(inner, { ...place, column: place.column + 1 }, (i) => i > 0 && i < inner.length - 1)}'`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\0': '0',
  '\u0007': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\u000b': 'v',
  '\f': 'f',
  '\r': 'r',
  '\u001b': 'e',
  '"': '"',
  '\\': '\\',
  '\u0085': 'N',
  '\u2028': 'L',
  '\u2029': 'P',
}

function doubleQuoted(text: string, { indent, column, isKey }: Place): string {
  const chars = [...text]
  let out = '"'
  let at = column + 1
  let isAfterSpace = false
  for (const [i, char] of chars.entries()) {
    const isSpace = char === ' '
    if (isSpace && !isKey && !isAfterSpace && at > BEST_WIDTH && i > 0 && i < chars.length - 1) {
      const kept = chars[i + 1] === ' ' ? '\\' : ''
      out += `\n${' '.repeat(indent)}${kept}`
      at = indent + kept.length
    } else {
      const printed = escaped(char)
      out += printed
      at += [...printed].length
    }
    isAfterSpace = isSpace
  }
  return `${out}"`
}

function escaped(char: string): string {
  const known = ESCAPES[char]
  if (known !== undefined) return `\\${known}`
  if (!UNPRINTABLE.test(char)) return char
  const code = char.codePointAt(0) ?? 0
  const [letter, digits] = code <= 0xff ? ['x', 2] : code <= 0xffff ? ['u', 4] : (['U', 8] as const)
  return `\\${letter}${code.toString(16).toUpperCase().padStart(digits, '0')}`
}

/** Line breaks at the end are kept: one needs no indicator, none is `-`, more than one is `+`. */
function literal(text: string, indent: number): string {
  const deep = /^[ \n]/.test(text) ? '2' : ''
  const chomp = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : ''
  const lines = text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n')
  return `|${deep}${chomp}\n${lines.map((line) => (line === '' ? '' : `${' '.repeat(indent)}${line}`)).join('\n')}`
}
