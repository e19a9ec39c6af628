// npm test: everything that needs Node and npm alone, in about five minutes on two cores. Optional programs (a kubectl) are looked
// for; what is missing is reported as skipped. node scripts/test.mjs [--only NAME[,NAME]], `checks` for all static checks.
import { parseArgs } from 'node:util'
import { runParts, summarise } from './parts.mjs'

const bin = (name) => `node_modules/.bin/${name}`
const script = (name, ...args) => [process.execPath, `scripts/${name}.mjs`, ...args]
const checks = [
  { name: 'types', command: [bin('tsc'), '-p', '.'] },
  { name: 'lint', command: [bin('biome'), 'check', '--error-on-warnings', 'src', 'test', 'bench', 'scripts', 'biome.json'] },
  { name: 'promises and cycles', command: [bin('oxlint'), '--type-aware', '--deny-warnings', 'src', 'test', 'bench'] },
  { name: 'import directions', command: script('check-imports') },
  { name: 'module-level state', command: script('check-module-state') },
  { name: 'unused code', command: [bin('knip'), '--no-progress'] },
  { name: 'generated files', command: script('generate', '--check') },
].map((part) => ({ ...part, group: 'checks' }))

const tests = [
  { name: 'test runner', command: [process.execPath, '--test', 'scripts/parts/parts.test.mjs', 'scripts/unit/unit.test.mjs'] },
  { name: 'unit tests and stories', command: script('unit') },
  { name: 'recorded requests', command: script('run', 'test/conformance/goldens.ts', '--check-doc') },
  {
    name: 'recorded kubectl sessions',
    command: script('run', 'test/conformance/kubectl.ts', '--no-controllers'),
    again: (session) => script('run', 'test/conformance/kubectl.ts', '--no-controllers', '--only', `^${session}$`),
  },
  { name: 'crashes', command: script('run', 'test/crash/prove.ts', '--quick', '--kills', '5', '--seed', '1') },
].map((part) => ({ ...part, group: 'tests' }))

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const results = await runParts([[...checks, ...tests]], { only: values.only, logs: 'dist/logs' })
process.exitCode = summarise(results)
