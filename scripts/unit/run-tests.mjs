// Bundles test files by area, runs them with node --test, a process for each core, and returns the result of each test.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { bundle } from '../bundle.mjs'
import { areasOf } from './areas.mjs'

const START = path.resolve('scripts/unit/start.mjs')
const RECORDER = path.resolve('scripts/unit/recorder.mjs')
/** Worlds produce much short-lived garbage: a larger young generation saves a tenth of the whole run. */
const NODE_FLAGS = ['--enable-source-maps', '--max-semi-space-size=64']

const PROCESSES = Math.min(8, Math.max(2, os.availableParallelism()))

/** Returns { status, output, tests, areas }; `output` is undefined where it goes to the terminal. */
export async function runTests(files, { flags = [], concurrency = PROCESSES, captures = false }) {
  const out = path.join('dist', 'test', `${process.pid}-${files.length}-${flags.length}`)
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  try {
    const areas = areasOf(files).map((area, i) => ({ ...area, id: `${String(i).padStart(3, '0')}-${area.name.replaceAll('/', '-')}.test` }))
    await bundleAreas(areas, out)
    const record = path.join(out, 'record.jsonl')
    const reporter = process.stdout.isTTY && !captures ? 'spec' : 'tap'
    const reporters = [
      ...[`--test-reporter=${reporter}`, '--test-reporter-destination=stdout'],
      ...[`--test-reporter=${RECORDER}`, `--test-reporter-destination=${record}`],
    ]
    const bundles = areas.map(({ id }) => path.join(out, `${id}.mjs`))
    const args = [...NODE_FLAGS, '--test', `--test-concurrency=${concurrency}`, ...reporters, ...flags, ...bundles]
    const { status, output } = await nodeWith(args, captures)
    const result = readBack(areas, out, record)
    const problem = problemIn(result.tests)
    if (problem !== undefined) console.log(`failed: ${problem}`)
    return { status: problem === undefined ? status : 1, output, ...result }
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

/** Problems that node --test does not report. */
function problemIn(tests) {
  if (tests.length === 0) return 'no test ran'
  const late = tests.find(({ area }) => area === undefined)
  // By then its suite can no longer be determined (start.mjs).
  return late && `"${late.names[0]}" was registered after its file had been loaded: describe() must not be async`
}

/** Between its imports an entry states which file comes next. */
async function bundleAreas(areas, out) {
  const entryPoints = {}
  for (const { id, files } of areas) {
    const entry = path.join(out, `${id}.entry.ts`)
    const imports = files.flatMap((file) => [`import 'begin:${file}'`, `import ${JSON.stringify(path.resolve(file))}`])
    writeFileSync(entry, [`import { ready } from ${JSON.stringify(START)}`, ...imports, 'ready()', ''].join('\n'))
    entryPoints[id] = entry
  }
  // The sources are available: embedding their text in every source map would take longer to read than the program.
  const outExtension = { '.js': '.mjs' }
  await bundle({ entryPoints, outdir: out, outExtension, sourcesContent: false, plugins: [beginnings] })
}

const beginnings = {
  name: 'beginnings',
  setup(build) {
    build.onResolve({ filter: /^begin:/ }, ({ path: name }) => ({ path: name.slice('begin:'.length), namespace: 'begin' }))
    build.onLoad({ filter: /.*/, namespace: 'begin' }, ({ path: file }) => ({
      contents: `import { begin } from ${JSON.stringify(START)}\nbegin(${JSON.stringify(file)})`,
      resolveDir: process.cwd(),
    }))
  },
}

function nodeWith(args, captures) {
  return new Promise((resolve) => {
    // Inside a test of this runner, node --test would consider itself a test file and run nothing.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const child = spawn(process.execPath, args, { env, stdio: captures ? ['ignore', 'pipe', 'inherit'] : 'inherit' })
    const stop = () => child.kill('SIGTERM')
    process.once('SIGTERM', stop)
    let output = captures ? '' : undefined
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    child.on('close', (code) => {
      process.removeListener('SIGTERM', stop)
      resolve({ status: code ?? 1, output })
    })
  })
}

function readBack(areas, out, record) {
  const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined)
  const registered = areas.flatMap(({ id, name }) =>
    (read(path.join(out, `${id}.mjs.files.json`)) ?? []).map((test) => ({ ...test, area: name })),
  )
  const lines = existsSync(record) ? readFileSync(record, 'utf8').split('\n').filter(Boolean) : []
  const placeOf = placesIn(registered, areas)
  const tests = lines.map((line) => {
    const { topLevel, ...test } = JSON.parse(line)
    return { ...test, ...placeOf(topLevel, test.names[0]) }
  })
  const costs = areas.map(({ id, name, files }) => {
    const seconds = tests.filter(({ area, names }) => area === name && names.length === 1).reduce((sum, { ms }) => sum + ms / 1000, 0)
    return { name, files, seconds, cpuSeconds: read(path.join(out, `${id}.mjs.cpu.json`)) ?? Number.NaN }
  })
  return { tests, areas: costs }
}

/** node --test reports the processes one after the other, in their order: the file of a test is the next with its name. */
function placesIn(registered, areas) {
  const known = new Map()
  let next = 0
  return (number, name) => {
    if (known.has(number)) return known.get(number)
    const process = areas.find(({ id }) => path.basename(name, '.mjs') === id)
    const at = process === undefined ? registered.findIndex((test, i) => i >= next && test.name === name) : -1
    if (at >= 0) next = at + 1
    const place = process === undefined ? { file: registered[at]?.file, area: registered[at]?.area } : { area: process.name }
    known.set(number, place)
    return place
  }
}
