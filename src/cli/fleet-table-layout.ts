/**
 * Cells as lines of text with aligned columns, as kubectl prints them, for any script and emoji. Text from members is shown
 * but never interpreted: control characters would move the cursor, and direction marks would reverse a line. Pure.
 */

/** Spaces between columns, as in kubectl. */
const GAP = 3

/** Styles a cell for a terminal; must not change its width. */
export type Paint = (text: string, place: { row: number; column: number }) => string

/** The first row is the header. No line is wider than its cells need, and none ends in spaces. */
export function layout(rows: readonly (readonly string[])[], paint: Paint = (text) => text): string {
  const shown = rows.map((row) => row.map(shownText))
  const widths: number[] = []
  for (const row of shown) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, displayWidth(cell))
  return shown.map((row, at) => `${lineOf(row, widths, (text, column) => paint(text, { row: at, column }))}\n`).join('')
}

function lineOf(row: readonly string[], widths: readonly number[], paint: (text: string, column: number) => string): string {
  const last = row.findLastIndex((cell) => cell !== '')
  return row
    .slice(0, last + 1)
    .map((cell, i) => (cell === '' ? '' : paint(cell, i)) + (i === last ? '' : ' '.repeat((widths[i] ?? 0) + GAP - displayWidth(cell))))
    .join('')
}

/** Only the first line, without anything that a terminal would interpret. */
export function shownText(text: string): string {
  const end = text.search(/[\n\r\u0085\u2028\u2029]/)
  const line = end < 0 ? text : `${text.slice(0, end)}...`
  return Buffer.from(line.replace(UNSHOWN, '\ufffd')).toString('utf8').trimEnd()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not reach the terminal
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const PLAIN = /^[\x20-\x7e]*$/
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Number of terminal columns that a text takes. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment)
  return width
}

/** What readers see as one character: a base with its combining marks. */
function graphemeWidth(grapheme: string): number {
  if (/^[\p{Mark}\p{Default_Ignorable_Code_Point}\p{Surrogate}]+$/u.test(grapheme)) return 0
  if (/^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}{2})/u.test(grapheme)) return 2
  return WIDE.test(grapheme) ? 2 : 1
}

/** Scripts whose characters take two columns, with their punctuation and full-width forms. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2fb}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u
