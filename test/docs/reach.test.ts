/** Every cell of the table of reach in SECURITY.md is a story, and every such story a cell. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { REACHES, reach } from '../fleet/stories/reach.ts'

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

it('what the owner of a namespace can reach is told as it is played', () => {
  const lines = readFileSync('SECURITY.md', 'utf8').split('\n')
  const header = lines.findIndex((line) => line.startsWith('| kind | its own namespace |'))
  assert.notEqual(header, -1, 'SECURITY.md has the table')
  const columns = cellsOf(lines[header] ?? '').slice(1)
  assert.deepEqual(columns, REACHES)
  const rest = lines.slice(header + 2)
  const rows = rest.slice(0, rest.indexOf('')).map(cellsOf)
  for (const row of rows) assert.ok(row.length === columns.length + 1 && !row.includes(''), row.join(' | '))
  const told = rows.flatMap(([kind]) => columns.map((column) => `${kind}: ${column}`))
  assert.deepEqual(
    told,
    reach.stories.map(({ name }) => name),
  )
})
