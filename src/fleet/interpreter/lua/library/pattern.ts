/**
 * Lua patterns: the backtracking matcher of the reference manual, over strings with one character per byte. Every step is
 * counted, and patterns that need too many open choices at once are refused, so a hostile pattern ends like an endless
 * loop.
 */
import type { LuaValue } from '../values.ts'
import type { Arguments } from './arguments.ts'

const ESCAPE = 0x25 // %
const STAR = 0x2a
const PLUS = 0x2b
const MINUS = 0x2d
const QUESTION = 0x3f
const MAX_CAPTURES = 32
const MAX_DEPTH = 200
const OPEN = -1
const POSITION = -2
const FAILED = -1

interface Capture {
  start: number
  /** OPEN until the closing parenthesis; POSITION for `()`. */
  length: number
}

const isBetween = (byte: number, low: number, high: number): boolean => byte >= low && byte <= high
const isLower = (byte: number): boolean => isBetween(byte, 97, 122)
const isUpper = (byte: number): boolean => isBetween(byte, 65, 90)
const isDigit = (byte: number): boolean => isBetween(byte, 48, 57)
const isLetter = (byte: number): boolean => isLower(byte) || isUpper(byte)

const CLASSES: Readonly<Record<string, (byte: number) => boolean>> = {
  a: isLetter,
  c: (byte) => byte < 32 || byte === 127,
  d: isDigit,
  l: isLower,
  p: (byte) => isBetween(byte, 33, 126) && !isLetter(byte) && !isDigit(byte),
  s: (byte) => isBetween(byte, 9, 13) || byte === 32,
  u: isUpper,
  w: (byte) => isLetter(byte) || isDigit(byte),
  x: (byte) => isDigit(byte) || isBetween(byte, 65, 70) || isBetween(byte, 97, 102),
  z: (byte) => byte === 0,
}

/** For each byte whether it is in a set. */
type ByteSet = Uint8Array

const byteSet = (isIn: (byte: number) => boolean): ByteSet => Uint8Array.from({ length: 256 }, (_, byte) => (isIn(byte) ? 1 : 0))

/** The class of `%letter` by letter; upper case is the complement, and other characters stand for themselves. */
const CLASS_SETS: readonly ByteSet[] = Array.from({ length: 256 }, (_, letter) => {
  const test = isLetter(letter) ? CLASSES[String.fromCharCode(letter | 32)] : undefined
  if (test === undefined) return byteSet((byte) => byte === letter)
  return byteSet((byte) => test(byte) === isLower(letter))
})

const isInClass = (byte: number, letter: number): boolean => CLASS_SETS[letter]?.[byte] === 1

/** A pattern with its sets as far as they are computed, by the position of their brackets. */
interface Pattern {
  readonly text: string
  readonly sets: (ByteSet | undefined)[]
}

/** Scripts use a few patterns over and over. */
const patterns = new Map<string, Pattern>()
const MANY_PATTERNS = 500

function patternOf(text: string): Pattern {
  const known = patterns.get(text)
  if (known !== undefined) return known
  const pattern: Pattern = { text, sets: [] }
  if (text.length > 100) return pattern
  if (patterns.size >= MANY_PATTERNS) patterns.clear()
  patterns.set(text, pattern)
  return pattern
}

export class Matcher {
  private captures: Capture[] = []
  private depth = 0
  private readonly args: Arguments
  private readonly text: string
  private readonly pattern: string
  private readonly sets: (ByteSet | undefined)[]

  constructor(args: Arguments, text: string, pattern: string) {
    this.args = args
    this.text = text
    this.pattern = pattern
    this.sets = patternOf(pattern).sets
  }

  /** The end of a match that starts at `at` with the pattern from `from`; undefined when there is none. */
  matchAt(at: number, from: number): number | undefined {
    if (this.captures.length > 0) this.captures = []
    this.depth = 0
    const end = this.match(at, from)
    return end === FAILED ? undefined : end
  }

  /** What was captured, as bytes or positions; the whole match when nothing was. */
  results(start: number, end: number): LuaValue[] {
    return this.captures.length === 0 ? [this.text.slice(start, end)] : this.captured()
  }

  captured(): LuaValue[] {
    return this.captures.map(({ start, length }) => {
      if (length === OPEN) return this.malformed('unfinished capture')
      return length === POSITION ? start + 1 : this.text.slice(start, start + length)
    })
  }

  private malformed(detail: string): never {
    return this.args.run.fail(this.args.site, detail)
  }

  private match(start: number, from: number): number {
    if (++this.depth > MAX_DEPTH) this.malformed('pattern too complex')
    const end = this.matchHere(start, from)
    this.depth--
    return end
  }

  private matchHere(start: number, from: number): number {
    const { pattern } = this
    let at = start
    let position = from
    for (;;) {
      this.args.run.work(1)
      if (position >= pattern.length) return at
      const code = pattern.charCodeAt(position)
      if (code === 0x28) return this.openCapture(at, position)
      if (code === 0x29) return this.closeCapture(at, position + 1)
      if (code === 0x24 && position + 1 === pattern.length) return at === this.text.length ? at : FAILED
      const special = code === ESCAPE ? this.special(at, position) : undefined
      if (special !== undefined) {
        if (special.at === FAILED) return FAILED
        at = special.at
        position = special.position
        continue
      }
      const end = this.classEnd(position)
      const suffix = pattern.charCodeAt(end)
      if (suffix === STAR) return this.longest(at, position, end, 0)
      if (suffix === PLUS) return this.longest(at, position, end, 1)
      if (suffix === MINUS) return this.shortest(at, position, end)
      const isHit = this.single(at, position, end)
      if (suffix === QUESTION) {
        if (isHit) {
          const rest = this.match(at + 1, end + 1)
          if (rest !== FAILED) return rest
        }
        position = end + 1
        continue
      }
      if (!isHit) return FAILED
      at++
      position = end
    }
  }

  private openCapture(at: number, position: number): number {
    if (this.captures.length >= MAX_CAPTURES) this.malformed('too many captures')
    const isPosition = this.pattern[position + 1] === ')'
    this.captures.push({ start: at, length: isPosition ? POSITION : OPEN })
    const end = this.match(at, position + (isPosition ? 2 : 1))
    if (end === FAILED) this.captures.pop()
    return end
  }

  private closeCapture(at: number, position: number): number {
    const capture = this.captures.findLast((candidate) => candidate.length === OPEN)
    if (capture === undefined) return this.malformed('invalid pattern capture')
    capture.length = at - capture.start
    const end = this.match(at, position)
    if (end === FAILED) capture.length = OPEN
    return end
  }

  /** `%b()`, `%f[set]` and `%1`; undefined for a plain class. */
  private special(at: number, position: number): { at: number; position: number } | undefined {
    const letter = this.pattern.charCodeAt(position + 1)
    if (letter === 0x62) return { at: this.balanced(at, position + 2), position: position + 4 }
    if (letter === 0x66) return this.frontier(at, position + 2)
    if (isDigit(letter)) return { at: this.repeated(at, letter - 49), position: position + 2 }
    return undefined
  }

  private balanced(at: number, position: number): number {
    if (position + 1 >= this.pattern.length) this.malformed('unbalanced pattern')
    const [open, close] = [this.pattern.charCodeAt(position), this.pattern.charCodeAt(position + 1)]
    if (this.text.charCodeAt(at) !== open) return FAILED
    let nesting = 1
    for (let i = at + 1; i < this.text.length; i++) {
      this.args.run.work(1)
      const byte = this.text.charCodeAt(i)
      if (byte === close) {
        if (--nesting === 0) return i + 1
      } else if (byte === open) nesting++
    }
    return FAILED
  }

  private frontier(at: number, position: number): { at: number; position: number } {
    if (this.pattern[position] !== '[') this.malformed("missing '[' after '%f' in pattern")
    const end = this.classEnd(position)
    const before = at === 0 ? 0 : this.text.charCodeAt(at - 1)
    const here = at < this.text.length ? this.text.charCodeAt(at) : 0
    const isFrontier = !this.isInSet(before, position, end - 1) && this.isInSet(here, position, end - 1)
    return { at: isFrontier ? at : FAILED, position: end }
  }

  private repeated(at: number, number: number): number {
    const capture = this.captures[number]
    if (capture === undefined || capture.length < 0) return this.malformed('invalid capture index')
    const captured = this.text.slice(capture.start, capture.start + capture.length)
    this.args.run.work(captured.length >> 3)
    return this.text.startsWith(captured, at) ? at + captured.length : FAILED
  }

  private longest(at: number, position: number, end: number, least: number): number {
    let count = 0
    while (this.single(at + count, position, end)) count++
    this.args.run.work(count)
    for (; count >= least; count--) {
      const rest = this.match(at + count, end + 1)
      if (rest !== FAILED) return rest
    }
    return FAILED
  }

  private shortest(at: number, position: number, end: number): number {
    for (let i = at; ; i++) {
      const rest = this.match(i, end + 1)
      if (rest !== FAILED) return rest
      if (!this.single(i, position, end)) return FAILED
    }
  }

  /** The position after one character class of the pattern. */
  private classEnd(position: number): number {
    const { pattern } = this
    const code = pattern.charCodeAt(position)
    if (code === ESCAPE) {
      if (position + 1 >= pattern.length) this.malformed("malformed pattern (ends with '%')")
      return position + 2
    }
    if (code !== 0x5b) return position + 1
    let end = position + (pattern[position + 1] === '^' ? 2 : 1)
    do {
      if (end >= pattern.length) this.malformed("malformed pattern (missing ']')")
      end += pattern.charCodeAt(end) === ESCAPE ? 2 : 1
    } while (pattern[end] !== ']')
    return end + 1
  }

  private single(at: number, position: number, end: number): boolean {
    if (at >= this.text.length) return false
    const byte = this.text.charCodeAt(at)
    const code = this.pattern.charCodeAt(position)
    if (code === 0x2e) return true
    if (code === ESCAPE) return isInClass(byte, this.pattern.charCodeAt(position + 1))
    return code === 0x5b ? this.isInSet(byte, position, end - 1) : code === byte
  }

  /** `last` is the position of the closing bracket. */
  private isInSet(byte: number, position: number, last: number): boolean {
    this.args.run.work((last - position) >> 3)
    let set = this.sets[position]
    if (set === undefined) {
      set = setBetween(this.pattern, position, last)
      this.sets[position] = set
    }
    return set[byte] === 1
  }
}

function setBetween(pattern: string, position: number, last: number): ByteSet {
  const isComplement = pattern[position + 1] === '^'
  const set = byteSet(() => false)
  const add = (other: (byte: number) => boolean) => {
    for (let byte = 0; byte < 256; byte++) if (other(byte)) set[byte] = 1
  }
  for (let i = position + (isComplement ? 2 : 1); i < last; i++) {
    const code = pattern.charCodeAt(i)
    if (code === ESCAPE) {
      const letter = pattern.charCodeAt(++i)
      add((byte) => isInClass(byte, letter))
    } else if (pattern[i + 1] === '-' && i + 2 < last) {
      const end = pattern.charCodeAt(i + 2)
      add((byte) => isBetween(byte, code, end))
      i += 2
    } else add((byte) => byte === code)
  }
  return isComplement ? set.map((isIn) => 1 - isIn) : set
}
