/**
 * Unified diffs as Python's difflib (and its Go port, which the real server prints in messages about pods) makes them:
 * longest matching blocks, popular lines ignored in long texts, three lines of context.
 */
interface Block {
  a: number
  b: number
  size: number
}

type Tag = 'equal' | 'replace' | 'delete' | 'insert'

interface OpCode {
  tag: Tag
  a1: number
  a2: number
  b1: number
  b2: number
}

/** Matching costs more than linear time; no message is worth blocking the server over a pod of this size. */
const MAX_LINES = 10_000

/** The texts are split into lines that keep their newline; a last line without one gets it, as the port does. */
export function unifiedDiff(before: string, after: string, context = 3): string {
  const a = splitLines(before)
  const b = splitLines(after)
  if (a.length + b.length > MAX_LINES) return `(${a.length} and ${b.length} lines: too long to compare)\n`
  let out = ''
  for (const group of groupedOpCodes(opCodes(a, b), context)) {
    const first = group[0]
    const last = group[group.length - 1]
    if (first === undefined || last === undefined) continue
    out += `@@ -${range(first.a1, last.a2)} +${range(first.b1, last.b2)} @@\n`
    for (const op of group) out += renderOp(op, a, b)
  }
  return out
}

function renderOp(op: OpCode, a: readonly string[], b: readonly string[]): string {
  if (op.tag === 'equal') return prefixed(' ', a.slice(op.a1, op.a2))
  const removed = op.tag === 'insert' ? '' : prefixed('-', a.slice(op.a1, op.a2))
  const added = op.tag === 'delete' ? '' : prefixed('+', b.slice(op.b1, op.b2))
  return removed + added
}

const prefixed = (mark: string, lines: readonly string[]): string => lines.map((line) => mark + line).join('')

const splitLines = (text: string): string[] => text.split('\n').map((line) => `${line}\n`)

/** `start,length`, where a length of one is left out and an empty range begins one line earlier. */
function range(start: number, stop: number): string {
  const length = stop - start
  if (length === 1) return String(start + 1)
  return `${length === 0 ? start : start + 1},${length}`
}

function opCodes(a: readonly string[], b: readonly string[]): OpCode[] {
  const codes: OpCode[] = []
  let i = 0
  let j = 0
  for (const block of matchingBlocks(a, b)) {
    const tag: Tag | '' = i < block.a && j < block.b ? 'replace' : i < block.a ? 'delete' : j < block.b ? 'insert' : ''
    if (tag !== '') codes.push({ tag, a1: i, a2: block.a, b1: j, b2: block.b })
    i = block.a + block.size
    j = block.b + block.size
    if (block.size > 0) codes.push({ tag: 'equal', a1: block.a, a2: i, b1: block.b, b2: j })
  }
  return codes
}

function groupedOpCodes(codes: OpCode[], context: number): OpCode[][] {
  const first = codes[0]
  const last = codes[codes.length - 1]
  if (first === undefined || last === undefined) return []
  if (first.tag === 'equal') codes[0] = { ...first, a1: Math.max(first.a1, first.a2 - context), b1: Math.max(first.b1, first.b2 - context) }
  const end = codes[codes.length - 1] ?? last
  if (end.tag === 'equal') {
    codes[codes.length - 1] = { ...end, a2: Math.min(end.a2, end.a1 + context), b2: Math.min(end.b2, end.b1 + context) }
  }
  const groups: OpCode[][] = []
  let group: OpCode[] = []
  for (const code of codes) {
    let { a1, b1 } = code
    if (code.tag === 'equal' && code.a2 - code.a1 > context * 2) {
      group.push({ ...code, a2: Math.min(code.a2, code.a1 + context), b2: Math.min(code.b2, code.b1 + context) })
      groups.push(group)
      group = []
      a1 = Math.max(a1, code.a2 - context)
      b1 = Math.max(b1, code.b2 - context)
    }
    group.push({ ...code, a1, b1 })
  }
  if (group.length > 0 && !(group.length === 1 && group[0]?.tag === 'equal')) groups.push(group)
  return groups
}

/** Maximal blocks of equal lines in order, adjacent ones joined, closed by an empty block at the end. */
function matchingBlocks(a: readonly string[], b: readonly string[]): Block[] {
  const positions = linePositions(b)
  const found: Block[] = []
  const pending: [number, number, number, number][] = [[0, a.length, 0, b.length]]
  while (pending.length > 0) {
    const [aLow, aHigh, bLow, bHigh] = pending.pop() as [number, number, number, number]
    const match = longestMatch({ a, b, positions }, [aLow, aHigh, bLow, bHigh])
    if (match.size === 0) continue
    found.push(match)
    if (aLow < match.a && bLow < match.b) pending.push([aLow, match.a, bLow, match.b])
    if (match.a + match.size < aHigh && match.b + match.size < bHigh)
      pending.push([match.a + match.size, aHigh, match.b + match.size, bHigh])
  }
  found.sort((x, y) => x.a - y.a || x.b - y.b)
  const joined: Block[] = []
  for (const block of found) {
    const previous = joined[joined.length - 1]
    if (previous !== undefined && previous.a + previous.size === block.a && previous.b + previous.size === block.b)
      previous.size += block.size
    else joined.push({ ...block })
  }
  joined.push({ a: a.length, b: b.length, size: 0 })
  return joined
}

/** Where each line of `b` occurs; in texts of 200 lines and more, lines that make up over a hundredth of it are left out. */
function linePositions(b: readonly string[]): Map<string, number[]> {
  const positions = new Map<string, number[]>()
  b.forEach((line, i) => {
    const known = positions.get(line)
    if (known === undefined) positions.set(line, [i])
    else known.push(i)
  })
  if (b.length >= 200) {
    const limit = Math.floor(b.length / 100) + 1
    for (const [line, at] of positions) if (at.length > limit) positions.delete(line)
  }
  return positions
}

function longestMatch(
  texts: { a: readonly string[]; b: readonly string[]; positions: Map<string, number[]> },
  [aLow, aHigh, bLow, bHigh]: [number, number, number, number],
): Block {
  const { a, b, positions } = texts
  let best: Block = { a: aLow, b: bLow, size: 0 }
  let lengths = new Map<number, number>()
  for (let i = aLow; i < aHigh; i++) {
    const next = new Map<number, number>()
    for (const j of positions.get(a[i] as string) ?? []) {
      if (j < bLow) continue
      if (j >= bHigh) break
      const size = (lengths.get(j - 1) ?? 0) + 1
      next.set(j, size)
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size }
    }
    lengths = next
  }
  // Grow over the popular lines that were left out of the search.
  while (best.a > aLow && best.b > bLow && a[best.a - 1] === b[best.b - 1]) best = { a: best.a - 1, b: best.b - 1, size: best.size + 1 }
  while (best.a + best.size < aHigh && best.b + best.size < bHigh && a[best.a + best.size] === b[best.b + best.size]) best.size++
  return best
}
