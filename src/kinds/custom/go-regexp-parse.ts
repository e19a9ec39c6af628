/**
 * Parser of Go's regular expressions (RE2 syntax) into a small tree, with Go's own error texts. JavaScript's syntax
 * differs in what it accepts (look-arounds, back-references) and in what things mean (`$`, `\z`, flags), so patterns of
 * CustomResourceDefinitions are never handed to RegExp.
 */
export type Range = readonly [low: number, high: number]

export type Tree =
  | { op: 'chars'; ranges: readonly Range[] }
  | { op: 'cat' | 'alt'; parts: Tree[] }
  | { op: 'repeat'; part: Tree; min: number; max: number }
  | { op: 'assert'; at: Assertion }

export type Assertion = 'begin' | 'end' | 'lineBegin' | 'lineEnd' | 'word' | 'notWord'

export class RegexpSyntaxError extends Error {
  constructor(code: string, expression: string) {
    super(`error parsing regexp: ${code}: \`${expression}\``)
    this.name = 'RegexpSyntaxError'
  }
}

const MAX_RUNE = 0x10ffff
const MAX_REPEAT = 1000
const MAX_DEPTH = 1000
const NEWLINE = 10

const DIGIT: readonly Range[] = [[48, 57]]
const SPACE: readonly Range[] = [
  [9, 10],
  [12, 13],
  [32, 32],
]
export const WORD: readonly Range[] = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
]

const POSIX: ReadonlyMap<string, readonly Range[]> = new Map<string, readonly Range[]>([
  ['alnum', [...DIGIT, [65, 90], [97, 122]]],
  [
    'alpha',
    [
      [65, 90],
      [97, 122],
    ],
  ],
  ['ascii', [[0, 127]]],
  [
    'blank',
    [
      [9, 9],
      [32, 32],
    ],
  ],
  [
    'cntrl',
    [
      [0, 31],
      [127, 127],
    ],
  ],
  ['digit', DIGIT],
  ['graph', [[33, 126]]],
  ['lower', [[97, 122]]],
  ['print', [[32, 126]]],
  [
    'punct',
    [
      [33, 47],
      [58, 64],
      [91, 96],
      [123, 126],
    ],
  ],
  [
    'space',
    [
      [9, 13],
      [32, 32],
    ],
  ],
  ['upper', [[65, 90]]],
  ['word', WORD],
  ['xdigit', [...DIGIT, [65, 70], [97, 102]]],
])

function normalizeRanges(ranges: readonly Range[]): Range[] {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0])
  const out: Range[] = []
  for (const [low, high] of sorted) {
    const last = out[out.length - 1]
    if (last !== undefined && low <= last[1] + 1) out[out.length - 1] = [last[0], Math.max(last[1], high)]
    else out.push([low, high])
  }
  return out
}

function negate(ranges: readonly Range[]): Range[] {
  const out: Range[] = []
  let next = 0
  for (const [low, high] of normalizeRanges(ranges)) {
    if (low > next) out.push([next, low - 1])
    next = high + 1
  }
  if (next <= MAX_RUNE) out.push([next, MAX_RUNE])
  return out
}

/** Both cases of everything below U+0250 and of single characters above: what (?i) means for the patterns people write. */
function foldCase(ranges: readonly Range[]): Range[] {
  const out: Range[] = [...ranges]
  for (const [low, high] of ranges) {
    for (let c = low; c <= Math.min(high, Math.max(low, 0x24f)); c++) {
      const text = String.fromCodePoint(c)
      for (const other of [text.toLowerCase(), text.toUpperCase()]) {
        const code = other.codePointAt(0)
        if (code !== undefined && code !== c && [...other].length === 1) out.push([code, code])
      }
    }
  }
  return normalizeRanges(out)
}

/** Ranges of a Unicode category or script, or undefined when there is none of that name. */
function unicodeRanges(name: string): Range[] | undefined {
  if (name === 'Any') return [[0, MAX_RUNE]]
  if (!/^[A-Za-z_]+$/.test(name)) return undefined
  for (const property of [`General_Category=${name}`, `Script=${name}`]) {
    const matcher = propertyMatcher(property)
    if (matcher !== undefined) return scanRanges(matcher)
  }
  return undefined
}

function propertyMatcher(property: string): RegExp | undefined {
  try {
    return new RegExp(`\\p{${property}}`, 'u')
  } catch {
    // The engine throws on unknown names: that is the answer to the question, not a failure.
    return undefined
  }
}

function scanRanges(matcher: RegExp): Range[] {
  const out: Range[] = []
  let start = -1
  for (let c = 0; c <= MAX_RUNE + 1; c++) {
    const inside = c <= MAX_RUNE && matcher.test(String.fromCodePoint(c))
    if (inside && start < 0) start = c
    else if (!inside && start >= 0) {
      out.push([start, c - 1])
      start = -1
    }
  }
  return out
}

interface Flags {
  fold: boolean
  multiline: boolean
  dotAll: boolean
}

export function parseGoRegexp(source: string): Tree {
  return new Parser(source).parse()
}

class Parser {
  private readonly text: string[]
  private at = 0
  private flags: Flags = { fold: false, multiline: false, dotAll: false }
  private readonly names = new Set<string>()
  private readonly source: string

  constructor(source: string) {
    this.source = source
    this.text = [...source]
  }

  parse(): Tree {
    const tree = this.alternation(0)
    if (this.at < this.text.length) throw new RegexpSyntaxError('unexpected )', this.source)
    return tree
  }

  private peek(offset = 0): string | undefined {
    return this.text[this.at + offset]
  }

  private rest(from = this.at, to = this.text.length): string {
    return this.text.slice(from, to).join('')
  }

  private chars(ranges: readonly Range[]): Tree {
    return { op: 'chars', ranges: this.flags.fold ? foldCase(ranges) : normalizeRanges(ranges) }
  }

  private literal(char: string): Tree {
    const code = char.codePointAt(0) ?? 0
    return this.chars([[code, code]])
  }

  private alternation(depth: number): Tree {
    if (depth > MAX_DEPTH) throw new RegexpSyntaxError('expression nests too deeply', this.source)
    const branches: Tree[] = [this.concatenation(depth)]
    while (this.peek() === '|') {
      this.at++
      branches.push(this.concatenation(depth))
    }
    return branches.length === 1 ? (branches[0] as Tree) : { op: 'alt', parts: branches }
  }

  private concatenation(depth: number): Tree {
    const parts: Tree[] = []
    for (let c = this.peek(); c !== undefined && c !== '|' && c !== ')'; c = this.peek()) {
      if (c === '*' || c === '+' || c === '?') throw new RegexpSyntaxError('missing argument to repetition operator', c)
      const part = this.atom(c, depth)
      if (part === undefined) continue
      parts.push(...this.repeated(part))
    }
    return { op: 'cat', parts }
  }

  /** One item, or several for a quoted \Q…\E run; undefined for a bare flag group. */
  private atom(c: string, depth: number): Tree[] | undefined {
    if (c === '(') return this.group(depth)
    if (c === '[') return [this.characterClass()]
    if (c === '\\') return this.escape()
    this.at++
    if (c === '.') return [this.dot()]
    if (c === '^') return [{ op: 'assert', at: this.flags.multiline ? 'lineBegin' : 'begin' }]
    if (c === '$') return [{ op: 'assert', at: this.flags.multiline ? 'lineEnd' : 'end' }]
    return [this.literal(c)]
  }

  private dot(): Tree {
    return { op: 'chars', ranges: this.flags.dotAll ? [[0, MAX_RUNE]] : negate([[NEWLINE, NEWLINE]]) }
  }

  private repeated(items: Tree[]): Tree[] {
    const last = items[items.length - 1]
    const start = this.at
    const count = last === undefined ? undefined : this.repetition()
    if (last === undefined || count === undefined) return items
    if (this.peek() === '?') this.at++
    const end = this.at
    if (this.repetition() !== undefined)
      throw new RegexpSyntaxError('invalid nested repetition operator', this.rest(start, Math.max(end, this.at)))
    return [...items.slice(0, -1), { op: 'repeat', part: last, min: count[0], max: count[1] }]
  }

  private repetition(): [number, number] | undefined {
    const c = this.peek()
    if (c === '*' || c === '+' || c === '?') {
      this.at++
      return [c === '+' ? 1 : 0, c === '?' ? 1 : Number.POSITIVE_INFINITY]
    }
    if (c !== '{') return undefined
    const match = /^\{([0-9]+)(,([0-9]*))?\}/.exec(this.rest(this.at, this.at + 24))
    if (match === null) return undefined
    const min = Number(match[1])
    const max = match[2] === undefined ? min : match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3])
    const tooLarge = min > MAX_REPEAT || (max !== Number.POSITIVE_INFINITY && (max > MAX_REPEAT || min > max))
    if (tooLarge) throw new RegexpSyntaxError('invalid repeat count', match[0])
    this.at += match[0].length
    return [min, max]
  }

  private group(depth: number): Tree[] | undefined {
    const saved = this.flags
    const start = this.at
    this.at++
    if (this.peek() === '?' && this.groupHeader(start) === 'flags') return undefined
    const tree = this.alternation(depth + 1)
    if (this.peek() !== ')') throw new RegexpSyntaxError('missing closing )', this.source)
    this.at++
    this.flags = saved
    return [tree]
  }

  private groupHeader(start: number): 'group' | 'flags' {
    const header = this.rest(this.at, this.at + 128)
    const named = /^\?P?<([^>]*)(>?)/.exec(header)
    if (named !== null && !/^\?<[=!]/.test(header)) return this.namedGroup(named, start)
    this.at++
    let negative = false
    const flags = { ...this.flags }
    for (let c = this.peek(); c !== undefined; c = this.peek()) {
      this.at++
      if (c === 'i') flags.fold = !negative
      else if (c === 'm') flags.multiline = !negative
      else if (c === 's') flags.dotAll = !negative
      else if (c === '-' && !negative) negative = true
      else if (c === ':' || c === ')') {
        this.flags = flags
        return c === ':' ? 'group' : 'flags'
      } else if (c !== 'U') break
    }
    if (this.at >= this.text.length && this.text[this.at - 1] !== ')') throw new RegexpSyntaxError('missing closing )', this.source)
    throw new RegexpSyntaxError('invalid or unsupported Perl syntax', this.rest(start, this.at))
  }

  private namedGroup(match: RegExpExecArray, start: number): 'group' {
    const name = match[1] ?? ''
    if (match[2] !== '>') throw new RegexpSyntaxError('invalid named capture', this.rest(start))
    const whole = this.rest(start, start + 1 + [...match[0]].length)
    if (!/^[A-Za-z0-9_]+$/.test(name)) throw new RegexpSyntaxError('invalid named capture', whole)
    if (this.names.has(name)) throw new RegexpSyntaxError('duplicate capture group name', name)
    this.names.add(name)
    this.at += [...match[0]].length
    return 'group'
  }

  private escape(): Tree[] {
    const next = this.peek(1)
    if (next === 'A' || next === 'z' || next === 'b' || next === 'B') {
      this.at += 2
      return [{ op: 'assert', at: ({ A: 'begin', z: 'end', b: 'word', B: 'notWord' } as const)[next] }]
    }
    if (next === 'Q') return this.quoted()
    const set = this.classEscape()
    return [set !== undefined ? this.chars(set) : this.chars([this.singleEscape()])]
  }

  private quoted(): Tree[] {
    this.at += 2
    const out: Tree[] = []
    for (let c = this.peek(); c !== undefined; c = this.peek()) {
      if (c === '\\' && this.peek(1) === 'E') {
        this.at += 2
        break
      }
      this.at++
      out.push(this.literal(c))
    }
    return out
  }

  /** \d \w \s \pX and their negations, or undefined when the escape means one character. */
  private classEscape(): readonly Range[] | undefined {
    const next = this.peek(1)
    const perl = next === undefined ? undefined : ({ d: DIGIT, s: SPACE, w: WORD } as Record<string, readonly Range[]>)[next.toLowerCase()]
    if (next !== undefined && perl !== undefined && 'dswDSW'.includes(next)) {
      this.at += 2
      return next === next.toLowerCase() ? perl : negate(perl)
    }
    if (next !== 'p' && next !== 'P') return undefined
    const start = this.at
    const match = /^\\[pP](?:\{(\^?)([^}]*)\}|([A-Za-z]))/.exec(this.rest(this.at, this.at + 64))
    const name = match?.[2] ?? match?.[3] ?? ''
    const ranges = unicodeRanges(name)
    this.at += match === null ? 2 : [...match[0]].length
    if (ranges === undefined) throw new RegexpSyntaxError('invalid character class range', this.rest(start, this.at))
    return (next === 'P') !== (match?.[1] === '^') ? negate(ranges) : ranges
  }

  private singleEscape(): Range {
    const start = this.at
    this.at++
    const c = this.peek()
    if (c === undefined) throw new RegexpSyntaxError('trailing backslash at end of expression', '')
    this.at++
    const single = (code: number): Range => [code, code]
    const named = ({ a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 } as Record<string, number>)[c]
    if (named !== undefined && 'aftnrv'.includes(c)) return single(named)
    if (c === 'x') {
      const match = /^(?:\{([0-9A-Fa-f]{1,8})\}|([0-9A-Fa-f]{2}))/.exec(this.rest(this.at, this.at + 12))
      const code = match === null ? Number.NaN : Number.parseInt(match[1] ?? match[2] ?? '', 16)
      if (match !== null && code <= MAX_RUNE) {
        this.at += match[0].length
        return single(code)
      }
    }
    const octal = /^(?:[1-7][0-7]{1,2}|0[0-7]{0,2})/.exec(this.rest(this.at - 1, this.at + 2))
    if (octal !== null) {
      this.at += octal[0].length - 1
      return single(Number.parseInt(octal[0], 8))
    }
    const code = c.codePointAt(0) ?? 0
    if (code < 128 && !/[A-Za-z0-9]/.test(c)) return single(code)
    throw new RegexpSyntaxError('invalid escape sequence', this.rest(start, this.at))
  }

  private characterClass(): Tree {
    const start = this.at
    this.at++
    const negated = this.peek() === '^'
    if (negated) this.at++
    const ranges: Range[] = []
    for (let first = true; this.peek() !== ']' || first; first = false) {
      if (this.peek() === undefined) throw new RegexpSyntaxError('missing closing ]', this.rest(start))
      ranges.push(...this.classItem(start))
    }
    this.at++
    const set = this.flags.fold ? foldCase(ranges) : ranges
    return { op: 'chars', ranges: negated ? negate(set) : normalizeRanges(set) }
  }

  private classItem(start: number): readonly Range[] {
    const posix = /^\[:(\^?)([a-z]*):\]/.exec(this.rest(this.at, this.at + 16))
    if (posix !== null) {
      const set = POSIX.get(posix[2] ?? '')
      if (set === undefined) throw new RegexpSyntaxError('invalid character class range', posix[0])
      this.at += posix[0].length
      return posix[1] === '^' ? negate(set) : set
    }
    if (this.peek() === '\\') {
      const set = this.classEscape()
      if (set !== undefined) return set
    }
    const from = this.at
    const low = this.classChar(start)
    if (this.peek() !== '-' || this.peek(1) === ']' || this.peek(1) === undefined) return [[low, low]]
    this.at++
    const high = this.classChar(start)
    if (high < low) throw new RegexpSyntaxError('invalid character class range', this.rest(from, this.at))
    return [[low, high]]
  }

  private classChar(start: number): number {
    const c = this.peek()
    if (c === undefined) throw new RegexpSyntaxError('missing closing ]', this.rest(start))
    if (c === '\\') return this.singleEscape()[0]
    this.at++
    return c.codePointAt(0) ?? 0
  }
}
