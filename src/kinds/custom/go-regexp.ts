/**
 * Go regular expressions matched in linear time: the tree becomes a small automaton whose determinized states are created
 * as a text needs them, so no pattern and no text can make matching explode (the real server's RE2 makes the same
 * promise). States are cached up to a bound and then created anew.
 */
import { type Assertion, parseGoRegexp, type Range, RegexpSyntaxError, type Tree, WORD } from './go-regexp-parse.ts'

export interface Pattern {
  readonly source: string
  /** Whether any part of the text matches; undefined when the pattern itself is not valid. */
  test(text: string): boolean | undefined
  /** Go's message about what is wrong with the pattern. */
  readonly error: string | undefined
}

export function compilePattern(source: string): Pattern {
  let made: { error: string | undefined; matcher: Matcher | undefined } | undefined
  const make = () => {
    made ??= build(source)
    return made
  }
  return {
    source,
    test: (text) => make().matcher?.test(text),
    get error() {
      return make().error
    },
  }
}

function build(source: string): { error: string | undefined; matcher: Matcher | undefined } {
  try {
    return { error: undefined, matcher: new Matcher(compileProgram(source)) }
  } catch (error) {
    if (!(error instanceof RegexpSyntaxError)) throw error
    return { error: error.message, matcher: undefined }
  }
}

type Instruction =
  | { op: 'chars'; ranges: readonly Range[]; next: number }
  | { op: 'split'; left: number; right: number }
  | { op: 'assert'; at: Assertion; next: number }
  | { op: 'match' }

/** Above this an expression is refused as too large: one step may cost as much as there are instructions. */
const MAX_INSTRUCTIONS = 10_000

function compileProgram(source: string): Instruction[] {
  const program: Instruction[] = []
  const add = (instruction: Instruction): number => {
    if (program.length >= MAX_INSTRUCTIONS) throw new RegexpSyntaxError('expression too large', source)
    return program.push(instruction) - 1
  }
  /** Emits `tree` so that it continues at `next`, and returns where it starts. */
  const emit = (tree: Tree, next: number): number => {
    if (tree.op === 'chars') return add({ op: 'chars', ranges: tree.ranges, next })
    if (tree.op === 'assert') return add({ op: 'assert', at: tree.at, next })
    if (tree.op === 'cat') return tree.parts.reduceRight((after, part) => emit(part, after), next)
    if (tree.op === 'repeat') return emitRepeat(tree, next)
    return tree.parts.map((part) => emit(part, next)).reduceRight((right, left) => add({ op: 'split', left, right }))
  }
  const emitRepeat = (tree: Extract<Tree, { op: 'repeat' }>, next: number): number => {
    let start = next
    if (tree.max === Number.POSITIVE_INFINITY) {
      const loop: Instruction = { op: 'split', left: next, right: next }
      start = add(loop)
      loop.left = emit(tree.part, start)
    } else {
      for (let i = tree.min; i < tree.max; i++) start = add({ op: 'split', left: emit(tree.part, start), right: next })
    }
    for (let i = 0; i < tree.min; i++) start = emit(tree.part, start)
    return start
  }
  const start = emit(parseGoRegexp(source), add({ op: 'match' }))
  return [{ op: 'split', left: start + 1, right: start + 1 }, ...program.map((i) => shift(i))]
}

/** Instruction 0 is the entry, so every other address moves by one. */
function shift(i: Instruction): Instruction {
  if (i.op === 'match') return i
  return i.op === 'split' ? { ...i, left: i.left + 1, right: i.right + 1 } : { ...i, next: i.next + 1 }
}

/** What lies before a position: the text's start, a newline, a word character or another one. */
const START = 0
const LINE = 1
const WORDCHAR = 2
const OTHER = 3
const END = 4

interface State {
  readonly threads: readonly number[]
  readonly before: number
  readonly next: (State | undefined)[]
  matchesAtEnd: boolean | undefined
}

const MATCHED: State = { threads: [], before: OTHER, next: [], matchesAtEnd: true }
const MAX_STATES = 1000

class Matcher {
  private readonly bounds: number[]
  private readonly ascii: Uint16Array
  /** Per instruction and character class: whether the instruction takes it. */
  private readonly takes: (Uint8Array | undefined)[]
  private readonly kinds: number[]
  private states = new Map<string, State>()
  private readonly program: readonly Instruction[]

  constructor(program: readonly Instruction[]) {
    this.program = program
    const edges = new Set<number>([0, 10, 11, 0x80])
    for (const ranges of [WORD, ...program.map((i) => (i.op === 'chars' ? i.ranges : []))])
      for (const [low, high] of ranges) edges.add(low).add(high + 1)
    this.bounds = [...edges].sort((a, b) => a - b)
    this.ascii = Uint16Array.from({ length: 128 }, (_, c) => this.searchClass(c))
    this.kinds = this.bounds.map((c) => (c === 10 ? LINE : inside(WORD, c) ? WORDCHAR : OTHER))
    this.takes = program.map((i) => (i.op === 'chars' ? Uint8Array.from(this.bounds, (c) => (inside(i.ranges, c) ? 1 : 0)) : undefined))
  }

  test(text: string): boolean {
    let state = this.state([0], START)
    for (let i = 0; i < text.length; i++) {
      let code = text.charCodeAt(i)
      if (code >= 0xd800 && code < 0xdc00) {
        code = text.codePointAt(i) ?? code
        if (code > 0xffff) i++
      }
      const charClass = code < 128 ? (this.ascii[code] as number) : this.searchClass(code)
      state = state.next[charClass] ?? this.step(state, charClass)
      if (state === MATCHED) return true
    }
    state.matchesAtEnd ??= this.expand(state, END).matched
    return state.matchesAtEnd
  }

  private searchClass(code: number): number {
    let low = 0
    let high = this.bounds.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.bounds[middle] as number) <= code) low = middle
      else high = middle - 1
    }
    return low
  }

  private step(state: State, charClass: number): State {
    const kind = this.kinds[charClass] ?? OTHER
    const { matched, threads } = this.expand(state, kind)
    let next = MATCHED
    if (!matched) {
      const after = new Set<number>([0])
      for (const at of threads) {
        const instruction = this.program[at]
        if (instruction?.op === 'chars' && this.takes[at]?.[charClass] === 1) after.add(instruction.next)
      }
      next = this.state(
        [...after].sort((a, b) => a - b),
        kind,
      )
    }
    state.next[charClass] = next
    return next
  }

  private state(threads: readonly number[], before: number): State {
    const key = `${before}:${threads.join(',')}`
    const known = this.states.get(key)
    if (known !== undefined) return known
    if (this.states.size >= MAX_STATES) this.states = new Map()
    const made: State = { threads, before, next: [], matchesAtEnd: undefined }
    this.states.set(key, made)
    return made
  }

  /** All instructions that wait for a character, given what lies before and after this position. */
  private expand(state: State, after: number): { matched: boolean; threads: number[] } {
    const seen = new Uint8Array(this.program.length)
    const stack = [...state.threads]
    const threads: number[] = []
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (seen[at] === 1) continue
      seen[at] = 1
      const i = this.program[at]
      if (i?.op === 'match') return { matched: true, threads }
      if (i?.op === 'split') stack.push(i.left, i.right)
      else if (i?.op === 'assert') {
        if (holds(i.at, state.before, after)) stack.push(i.next)
      } else if (i !== undefined) threads.push(at)
    }
    return { matched: false, threads }
  }
}

function holds(assertion: Assertion, before: number, after: number): boolean {
  const isBoundary = (before === WORDCHAR) !== (after === WORDCHAR)
  if (assertion === 'begin') return before === START
  if (assertion === 'end') return after === END
  if (assertion === 'lineBegin') return before === START || before === LINE
  if (assertion === 'lineEnd') return after === END || after === LINE
  return assertion === 'word' ? isBoundary : !isBoundary
}

function inside(ranges: readonly Range[], code: number): boolean {
  for (const [low, high] of ranges) if (code >= low && code <= high) return true
  return false
}
