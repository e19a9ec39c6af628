/**
 * The list of recorded cases that differ, in docs/compatibility.md: read, checked against a run, and written again with the
 * reasons given there. A difference without a reason and a reason without a difference are both mistakes.
 */

import type { Case } from './replay/run-all.ts'
import { hasPassed } from './report.ts'

const HEADING = '## Recorded cases that differ'
const TABLE_HEAD = ['| sequence | case | why |', '|---|---|---|']
const NONE = 'None.'

type Reasons = Map<string, string>

const keyOf = (sequence: string, name: string): string => `${sequence} ${name}`
const missesOf = (cases: Case[]): Case[] => cases.filter((one) => one.apart === undefined && !hasPassed(one))

export function checkDocument(document: string, cases: Case[]): string[] {
  const reasons = readReasons(document)
  const misses = new Set(missesOf(cases).map((miss) => keyOf(miss.sequence, miss.name)))
  const unexplained = [...misses].filter((key) => !reasons.get(key)).map((key) => `${key} differs and no reason is given`)
  const outdated = [...reasons.keys()]
    .filter((key) => !misses.has(key))
    .map((key) => `${key} is listed as different but is answered as recorded`)
  return [...unexplained, ...outdated]
}

export function writeDocument(document: string, cases: Case[]): string {
  const reasons = readReasons(document)
  const rows = missesOf(cases).map((miss) => `| ${miss.sequence} | ${miss.name} | ${reasons.get(keyOf(miss.sequence, miss.name)) ?? ''} |`)
  const { before, after } = around(document)
  const body = rows.length === 0 ? [NONE] : [...TABLE_HEAD, ...rows]
  return [...before, HEADING, '', ...body, ...(after.length > 0 ? ['', ...after] : []), ''].join('\n')
}

function readReasons(document: string): Reasons {
  const reasons: Reasons = new Map()
  for (const line of around(document).section) {
    const cells = line.split('|').map((cell) => cell.trim())
    const [, sequence, name] = cells
    if (!line.startsWith('|') || sequence === undefined || name === undefined || TABLE_HEAD.includes(line)) continue
    reasons.set(keyOf(sequence, name), cells.slice(3, -1).join('|'))
  }
  return reasons
}

/** The document's lines before, in and after the section of the list. */
function around(document: string): { before: string[]; section: string[]; after: string[] } {
  const lines = document.trimEnd().split('\n')
  const start = lines.indexOf(HEADING)
  if (start < 0) throw new Error(`docs/compatibility.md has no section '${HEADING}'`)
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '))
  const end = length < 0 ? lines.length : start + 1 + length
  return { before: lines.slice(0, start), section: lines.slice(start + 1, end), after: lines.slice(end) }
}
