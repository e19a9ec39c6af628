// Checks the two rules that keep the code testable: folders import in one direction only, and only the adapters use time, randomness,
// timers, environment, disk, network and console. Prints each violation as file:line; exit code 1.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { sources, withoutComments } from './sources.mjs'

/** `data` is one from its first file on, also before it has a module.ts. */
const modules = [...new Set([...moduleFolders(), 'data'])]

/** What a folder of src may import besides itself. A folder that is not here may be imported by the joints only. */
const MAY_IMPORT = {
  base: [],
  kube: ['base'],
  kinds: ['base', 'kube'],
  store: ['base', 'kube', 'kinds'],
  apiserver: ['base', 'kube', 'kinds', 'store'],
  client: ['base', 'kube', 'kinds'],
  runtime: ['base', 'kube', 'kinds', 'client'],
  cache: ['base', 'kube'],
  // A module is a folder with a module.ts. Modules meet in the seams of src/runtime, never by importing each other.
  ...Object.fromEntries(modules.map((module) => [module, ['base', 'kube', 'kinds', 'client', 'runtime']])),
}

/** They compose everything, so they may import everything. */
const JOINTS = ['src/main.ts', 'src/modules.ts', 'src/composition.ts', 'src/cli/', 'src/faultsim/']

/** The only access to the real world. */
const ADAPTERS = [
  'src/main.ts',
  'src/own-heap.ts',
  'src/store/journal/',
  'src/apiserver/listener/',
  'src/client/transport/',
  'src/runtime/listener/',
  'src/minicluster/process/',
  'src/cache/',
]

const AMBIENT = [
  [/\bDate\.now\b/, 'Date.now: take a Clock'],
  [/\bnew Date\(\s*\)/, 'new Date(): take a Clock'],
  [/(?<![.\w])set(Timeout|Interval|Immediate)\b/, 'timers: take a Clock'],
  [/\bperformance\.now\b/, 'performance.now: take a Clock'],
  [/\bMath\.random\b/, 'Math.random: take a Random'],
  [/\b(randomUUID|randomBytes|getRandomValues)\b/, 'randomness of crypto: take a Random'],
  [/\bprocess\.(env|argv|stdout|stderr|exit|on)\b/, 'the process: only main.ts may'],
  [/\bconsole\.\w+/, 'console: report through a value that is passed in'],
  [
    /['"]node:(fs|net|http|https|http2|tls|child_process|dns|dgram|os|timers)(\/promises)?['"]/,
    'disk, network and processes: only adapters may',
  ],
  [/(?<![.\w])fetch\(/, 'fetch: use a Transport'],
]

const code = new Map(sources('src').map((file) => [file, withoutComments(readFileSync(file, 'utf8')).split('\n')]))
/** What the program is made of. Anything else in src is there for tests, which may use the real world. */
const program = reachableFrom('src/main.ts')
let hasProblems = false
for (const [file, lines] of code) {
  for (const [i, line] of lines.entries()) {
    for (const problem of [...direction(file, line), ...ambient(file, line)]) {
      console.log(`${file}:${i + 1}: ${problem}`)
      hasProblems = true
    }
  }
}
if (hasProblems) process.exitCode = 1

function reachableFrom(file, seen = new Set()) {
  if (seen.has(file) || !code.has(file)) return seen
  seen.add(file)
  for (const line of code.get(file)) {
    const target = importedBy(file, line)
    if (target !== undefined) reachableFrom(target, seen)
  }
  return seen
}

/** Below src; a module can lie in the folder of another. */
function moduleFolders() {
  return readdirSync('src', { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.relative('src', path.join(entry.parentPath ?? entry.path, entry.name)))
    .filter((folder) => existsSync(path.join('src', folder, 'module.ts')) && folder !== path.join('runtime', 'module'))
}

/** The module, or else the folder of src, that a file belongs to. */
function ownerOf(file) {
  const own = modules.filter((module) => file.startsWith(path.join('src', module) + path.sep)).sort((a, b) => b.length - a.length)
  return own[0] ?? file.split(path.sep)[1]
}

function importedBy(file, line) {
  const imported = line.match(/(?:from|import)\s*\(?\s*['"](\.[^'"]*)['"]/)?.[1]
  return imported === undefined ? undefined : path.join(path.dirname(file), imported)
}

function direction(file, line) {
  const target = importedBy(file, line)
  if (target === undefined) return []
  const [root] = target.split(path.sep)
  const [from, to] = [ownerOf(file), ownerOf(target)]
  // Helpers shared by tests are no exception: what they need lives in src, so that src can be read and moved on its own.
  if (root !== 'src') return [`imports ${target}: only tests (*.test.ts) import anything outside src`]
  if (isIn(JOINTS, file) || isForTests(file)) return []
  if (from === to || MAY_IMPORT[from]?.includes(to)) return []
  return [`${from} imports ${to}: it may import ${MAY_IMPORT[from]?.join(', ') || 'nothing'} (${target})`]
}

/** Helpers that the tests of a folder share. */
function isForTests(file) {
  return path.basename(file) === 'testing.ts' && !program.has(file)
}

function ambient(file, line) {
  if (!program.has(file) || isIn(ADAPTERS, file)) return []
  return AMBIENT.filter(([pattern]) => pattern.test(line)).map(([, problem]) => problem)
}

function isIn(places, file) {
  return places.some((place) => file === place || (place.endsWith('/') && file.startsWith(place)))
}
