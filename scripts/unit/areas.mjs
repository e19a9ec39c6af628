// Which tests share a process. A process for each file would cost more than the tests themselves, and a few large ones would
// leave a core idle at the end.
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'

/** How many parts of its path name the area of a test: large folders are divided. */
const DEPTHS = [
  ['src/minicluster/workloads', 4],
  ['src/minicluster', 3],
  ['src/fleet', 3],
  ['test/fleet', 3],
]

/** Areas that take long (npm run test:slow lists them): they start first, so that the short ones fill the end. */
const LONGEST_FIRST = []

export function areasOf(files) {
  const areas = new Map()
  for (const file of files) areas.set(areaOf(file), [...(areas.get(areaOf(file)) ?? []), file])
  const rank = (name) => (LONGEST_FIRST.includes(name) ? LONGEST_FIRST.indexOf(name) : LONGEST_FIRST.length)
  return [...areas].map(([name, members]) => ({ name, files: members })).sort((a, b) => rank(a.name) - rank(b.name))
}

function areaOf(file) {
  const [, depth] = DEPTHS.find(([folder]) => file.startsWith(`${folder}/`)) ?? ['', 2]
  return file
    .split('/')
    .slice(0, depth)
    .join('/')
    .replace(/\.test\.ts$/, '')
}

/** Every *.test.ts at or below a path. */
export function testFilesIn(root) {
  const name = root.split(path.sep).join('/').replace(/\/$/, '')
  if (statSync(name).isFile()) return name.endsWith('.test.ts') ? [name] : []
  return readdirSync(name, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return testFilesIn(`${name}/${entry.name}`)
    return entry.name.endsWith('.test.ts') ? [`${name}/${entry.name}`] : []
  })
}
