// Regenerates the facts that come from Go types: node scripts/facts/run.mjs [--check]
// Needs Go (any from 1.21 on; it fetches the version that go.mod names) and the module proxy. With --check nothing is
// written, and facts that differ fail.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const here = path.dirname(fileURLToPath(import.meta.url))
const root = path.resolve(here, '../..')
const isCheck = process.argv.includes('--check')

let areStale = false
for (const name of ['messages', 'openapi-v2-messages', 'openapi-v3-messages']) {
  const file = `src/kinds/kubernetes/facts/${name}.facts`
  const before = readFileSync(path.join(root, file), 'utf8')
  const now = printed(name)
  const changed = changes(JSON.parse(before), JSON.parse(now))
  for (const line of changed) console.log(line)
  if (before === now) console.log(`${file} is what the Go types say`)
  else if (isCheck) console.log(`${file} is not what the Go types say: ${changed.length} messages differ`)
  else {
    writeFileSync(path.join(root, file), now)
    console.log(`wrote ${file}: ${changed.length} messages changed`)
  }
  areStale ||= before !== now
}
if (isCheck && areStale) fail('run `npm run facts` and commit the result')

/** What the Go program prints. */
function printed(name) {
  const made = spawnSync('go', ['run', '.', name], {
    cwd: here,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
    // Nothing from the caller's workspace or flags, and no change to go.mod or go.sum.
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly -buildvcs=false', GOTOOLCHAIN: 'auto' },
  })
  if (made.error?.code === 'ENOENT') fail('Go is needed and there is no `go` in PATH; install it from https://go.dev/dl')
  if (made.error !== undefined) fail(made.error.message)
  if (made.status !== 0) fail(`go run failed with code ${made.status}; is the module proxy reachable? (go env GOPROXY)`)
  return made.stdout
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
  console.error(`facts: ${message}`)
  process.exit(1)
}
