/**
 * Estimates how deep a YAML text nests, in one scan of its characters. The parser recurses, and a nearly full stack
 * can end the whole process (V8 dies when it must compile a regular expression there), so depth is bounded before it starts.
 */

/**
 * Columns at which blocks begin, and open brackets; never less than half the true depth, because a list may begin in the column of
 * its key. Text in scalars that looks like nesting is counted too. Stops once the count exceeds `enough`.
 */
export function yamlDepth(text: string, enough: number): number {
  const columns: number[] = []
  let flow = 0
  let deepest = 0
  for (let at = 0; at < text.length && deepest <= enough; ) {
    let column = 0
    let start = at
    // Indicators and blanks at the start of the line: each indicator opens a block.
    for (; start < text.length; start++, column++) {
      const code = text.charCodeAt(start)
      if (code === SPACE || code === TAB) continue
      const isIndicator = (code === DASH || code === QUESTION || code === COLON) && isBlank(text.charCodeAt(start + 1))
      if (code !== NEWLINE && flow === 0) open(columns, column)
      if (!isIndicator) break
    }
    deepest = Math.max(deepest, columns.length + flow)
    for (at = start; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === NEWLINE) break
      if (code === BRACKET || code === BRACE) deepest = Math.max(deepest, columns.length + ++flow)
      else if ((code === CLOSE_BRACKET || code === CLOSE_BRACE) && flow > 0) flow--
    }
    at++
  }
  return deepest
}

function open(columns: number[], column: number): void {
  while (columns.length > 0 && (columns[columns.length - 1] as number) >= column) columns.pop()
  columns.push(column)
}

const SPACE = 0x20
const TAB = 0x09
const NEWLINE = 0x0a
const DASH = 0x2d
const QUESTION = 0x3f
const COLON = 0x3a
const BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const BRACE = 0x7b
const CLOSE_BRACE = 0x7d

const isBlank = (code: number): boolean => Number.isNaN(code) || code === SPACE || code === TAB || code === NEWLINE || code === 0x0d
