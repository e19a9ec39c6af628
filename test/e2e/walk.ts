/**
 * A walk-through in Markdown as something that can be run: its `bash` blocks in order, each with the `text` block that
 * follows it as what must be printed. `…` stands for anything within a line, and for any lines where it stands alone; how
 * many spaces there are between columns does not matter. Pure.
 */
export interface WalkStep {
  /** Number of the line of its first command. */
  line: number
  commands: string
  /** Absent: it must only succeed. */
  expected?: string
}

export function stepsOf(markdown: string): WalkStep[] {
  const steps: WalkStep[] = []
  for (const { language, line, text } of blocksOf(markdown)) {
    const last = steps.at(-1)
    if (language === 'bash') steps.push({ line, commands: text })
    else if (language === 'text' && last !== undefined && last.expected === undefined) last.expected = text
    else throw new Error(`line ${line}: a ${language || 'nameless'} block is neither commands nor what they print`)
  }
  return steps
}

interface Block {
  language: string
  line: number
  text: string
}

function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = []
  let open: { language: string; line: number; lines: string[] } | undefined
  for (const [i, line] of markdown.split('\n').entries()) {
    if (!line.startsWith('```')) open?.lines.push(line)
    else if (open === undefined) open = { language: line.slice(3).trim(), line: i + 2, lines: [] }
    else {
      blocks.push({ ...open, text: open.lines.join('\n') })
      open = undefined
    }
  }
  if (open !== undefined) throw new Error(`line ${open.line}: a block does not end`)
  return blocks
}

const ANYTHING = '…'
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line) => line !== '')

const patternOf = (line: string): RegExp =>
  new RegExp(
    `^${line
      .split(ANYTHING)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').trim())
      .join('.*')}$`,
  )

/** What is missing of the expected text; undefined when all is as expected. */
export function difference(expected: string, printed: string): string | undefined {
  const wanted = linesOf(expected)
  const found = linesOf(printed)
  let at = 0
  let mayPass = false
  for (const line of wanted) {
    if (line === ANYTHING) {
      mayPass = true
      continue
    }
    const pattern = patternOf(line)
    while (mayPass && at < found.length && !pattern.test(found[at] ?? '')) at++
    if (at >= found.length) return `expected ${JSON.stringify(line)}, and there is nothing more`
    if (!pattern.test(found[at] ?? '')) return `expected ${JSON.stringify(line)}, found ${JSON.stringify(found[at])}`
    at++
    mayPass = false
  }
  return at < found.length && !mayPass ? `there is more than expected: ${JSON.stringify(found[at])}` : undefined
}
