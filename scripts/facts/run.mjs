// Regenerates the facts that come from Go types: node scripts/facts/run.mjs [--check]
// Needs Go (any from 1.21 on; it fetches the version that go.mod names) and the module proxy. With --check nothing is
// written, and facts that differ fail.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const here = path.dirname(fileURLToPath(import.meta.url))
const root = path.resolve(here, '../..')
const file = 'src/kinds/kubernetes/facts/messages.facts'
const isCheck = process.argv.includes('--check')

const made = spawnSync('go', ['run', '.'], {
  cwd: here,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  stdio: ['ignore', 'pipe', 'inherit'],
  // Nothing from the caller's workspace or flags, and no change to go.mod or go.sum.
  env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly -buildvcs=false', GOTOOLCHAIN: 'auto' },
})
if (made.error !== undefined) {
  const why =
    made.error.code === 'ENOENT' ? 'Go is needed and there is no `go` in PATH; install it from https://go.dev/dl' : made.error.message
  fail(`facts: ${why}`)
}
if (made.status !== 0) fail(`facts: go run failed with code ${made.status}; is the module proxy reachable? (go env GOPROXY)`)

const before = readFileSync(path.join(root, file), 'utf8')
const changed = changes(JSON.parse(before), JSON.parse(made.stdout))
for (const line of changed) console.log(line)
if (before === made.stdout) {
  console.log(`${file} is what the Go types say`)
} else if (isCheck) {
  fail(`${file} is not what the Go types say; run \`npm run facts\` and commit the result`)
} else {
  writeFileSync(path.join(root, file), made.stdout)
  console.log(`wrote ${file}: ${changed.length} messages changed`)
}

/** One line per message that is new, gone or different. */
function changes(old, now) {
  const lines = []
  for (const name of Object.keys(old)) if (!Object.hasOwn(now, name)) lines.push(`- ${name}`)
  for (const [name, fields] of Object.entries(now)) {
    if (!Object.hasOwn(old, name)) lines.push(`+ ${name}`)
    else if (JSON.stringify(old[name]) !== JSON.stringify(fields)) lines.push(`~ ${name}`)
  }
  return lines
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
