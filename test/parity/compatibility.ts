/**
 * The list of scenarios that differ on purpose, in docs/compatibility.md: it names them all, with the reason that the
 * scenario itself gives, and no others.
 */
import type { Scenario } from './scenario.ts'

const HEADING = '### Scenarios that differ'
const NONE = 'None.'

export function listOf(scenarios: readonly Scenario[]): string[] {
  const rows = scenarios.flatMap(({ name, differs }) => (differs === undefined ? [] : [`| ${name} | ${differs} |`]))
  return rows.length === 0 ? [NONE] : ['| scenario | why |', '|---|---|', ...rows]
}

/** The lines of the document under the heading of the list. */
export function listIn(document: string): string[] {
  const lines = document.split('\n')
  const start = lines.indexOf(HEADING)
  if (start < 0) throw new Error(`docs/compatibility.md has no section '${HEADING}'`)
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => line.startsWith('#'))
  return rest.slice(0, end < 0 ? rest.length : end).filter((line) => line.trim() !== '')
}
