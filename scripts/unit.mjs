// Runs unit tests and stories: node scripts/unit.mjs [PATH-OR-PREFIX...] [-- node --test flags]
// Every *.test.ts below the given paths (default: src and test) is bundled; files of one area share a process, because a
// process per file costs more than the tests themselves.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundle } from './bundle.mjs'

/** How many parts of its path name the area of a test: large rooms are divided, so that two processes share their work. */
const DEPTH_OF_ROOM = { 'src/minicluster/workloads': 4, 'src/minicluster': 3, 'src/fleet': 3, 'test/fleet': 3 }

const args = process.argv.slice(2)
const split = args.indexOf('--')
const roots = (split < 0 ? args : args.slice(0, split)).filter((a) => !a.startsWith('--'))
const flags = split < 0 ? [] : args.slice(split + 1)

const files = (roots.length ? roots : ['src', 'test']).flatMap(walk).sort()
if (files.length === 0) {
  console.error(`no *.test.ts below ${roots.join(', ')}`)
  process.exit(1)
}

const out = path.join('dist', 'test', String(process.pid))
mkdirSync(out, { recursive: true })
// Property tests draw from a fixed seed, so that a run can be repeated; FC_SEED=N explores others.
const seeding = path.join(out, 'seed.ts')
writeFileSync(
  seeding,
  `import fc from 'fast-check'\nfc.configureGlobal({ ...fc.readConfigureGlobal(), seed: ${Number(process.env.FC_SEED ?? 20261115)} })\n`,
)
const areas = Map.groupBy ? Map.groupBy(files, area) : group(files)
const entryPoints = {}
for (const [name, members] of areas) {
  const entry = path.join(out, `${name}.entry.ts`)
  const lines = members.map((m) => `import ${JSON.stringify(path.resolve(m))}\n`)
  writeFileSync(entry, `import ${JSON.stringify(path.resolve(seeding))}\n${lines.join('')}`)
  entryPoints[`${name}.test`] = entry
}
let status = 1
try {
  await bundle({ entryPoints, outdir: out, outExtension: { '.js': '.mjs' } })
  const tests = Object.keys(entryPoints).map((name) => path.join(out, `${name}.mjs`))
  const result = spawnSync(process.execPath, ['--enable-source-maps', '--test', '--test-concurrency=2', ...flags, ...tests], {
    stdio: 'inherit',
  })
  status = result.status ?? 1
} finally {
  rmSync(out, { recursive: true, force: true })
}
process.exit(status)

function walk(root) {
  if (statSync(root).isFile()) return root.endsWith('.test.ts') ? [root] : []
  return readdirSync(root, { withFileTypes: true }).flatMap((e) => {
    const full = path.join(root, e.name)
    return e.isDirectory() ? walk(full) : e.name.endsWith('.test.ts') ? [full] : []
  })
}

function area(file) {
  const large = Object.keys(DEPTH_OF_ROOM).find((room) => file.startsWith(path.join(room, path.sep)))
  return file
    .split(path.sep)
    .slice(0, large === undefined ? 2 : DEPTH_OF_ROOM[large])
    .join('-')
    .replace(/\.test\.ts$/, '')
}

function group(list) {
  const map = new Map()
  for (const file of list) map.set(area(file), [...(map.get(area(file)) ?? []), file])
  return map
}
