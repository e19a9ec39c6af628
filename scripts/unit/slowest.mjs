// The tables of npm run test:slow: which tests, files and areas take the time.
import { columns } from '../columns.mjs'

export function slowest({ tests, areas }, most) {
  const parents = new Set(tests.map(({ area, names }) => [area, ...names.slice(0, -1)].join('\0')))
  const leaves = tests.filter(({ area, names, isSuite }) => !isSuite && !parents.has([area, ...names].join('\0')))
  const files = new Map()
  for (const { file = '?', ms, names } of tests) if (names.length === 1) files.set(file, (files.get(file) ?? 0) + ms)
  const seconds = (ms) => (ms / 1000).toFixed(2)
  const top = (rows, cost) => [...rows].sort((a, b) => cost(b) - cost(a)).slice(0, most)
  return [
    table(
      ['test', 'seconds', 'file'],
      top(leaves, ({ ms }) => ms).map(({ names, ms, file }) => [names.join(' > '), seconds(ms), file ?? '?']),
    ),
    table(
      ['file', 'seconds'],
      top(files, ([, ms]) => ms).map(([file, ms]) => [file, seconds(ms)]),
    ),
    table(
      ['process', 'seconds', 'of them CPU'],
      top(areas, (area) => area.seconds).map((area) => [area.name, area.seconds.toFixed(2), area.cpuSeconds.toFixed(2)]),
    ),
  ].join('\n\n')
}

const table = (head, rows) => columns([head, ...rows.map((row) => [shortened(row[0]), ...row.slice(1)])])
const shortened = (text) => (text.length > 90 ? `${text.slice(0, 89)}…` : text)
