// Runs unit tests and stories: node scripts/unit.mjs [--slow] [PATH...] [-- node --test flags]
// Every *.test.ts below the given paths (default: src and test) runs. A failed test that uses the machine (its list is
// scripts/unit/real-programs.mjs) is retried once on its own: if it then passes, it is named as flaky and does not fail the
// run. `--slow` writes the output to a log and prints what took longest.
import { mkdirSync, writeFileSync } from 'node:fs'
import { testFilesIn } from './unit/areas.mjs'
import { runTests } from './unit/run-tests.mjs'
import { tryAgain } from './unit/second-try.mjs'
import { slowest } from './unit/slowest.mjs'

const SLOWEST = 50
const LOG = 'dist/logs/test-slow.log'

const args = process.argv.slice(2)
const split = args.indexOf('--')
const own = split < 0 ? args : args.slice(0, split)
const flags = split < 0 ? [] : args.slice(split + 1)
const isSlow = own.includes('--slow')
const roots = own.filter((arg) => !arg.startsWith('--'))

const files = (roots.length > 0 ? roots : ['src', 'test']).flatMap(testFilesIn).sort()
if (files.length === 0) {
  console.error(`no *.test.ts below ${roots.join(', ')}`)
  process.exit(1)
}
const first = await runTests([...new Set(files)], { flags, captures: isSlow })
if (isSlow) {
  mkdirSync('dist/logs', { recursive: true })
  writeFileSync(LOG, first.output)
  console.log(slowest(first, SLOWEST))
  if (first.status !== 0) console.log(`\nsome tests failed: ${LOG}`)
  process.exit(first.status)
}
process.exitCode = first.status === 0 ? 0 : await tryAgain(first, (again) => runTests(again, { concurrency: 1, captures: true }))
