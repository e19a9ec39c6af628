// Regenerates the facts that a fresh kube-apiserver tells: node scripts/facts/server.mjs [--check]
// Starts the real server of scripts/kube-assets (built from Go modules alone) in a folder of its own, reads discovery,
// OpenAPI and every object that exists from the start, and stops it. No description of fields is carried over.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrapFacts } from './bootstrap.mjs'
import { openApiFacts, resourceFacts } from './documents.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')
const up = path.join(root, 'scripts/kube-assets/up')
const isCheck = process.argv.includes('--check')
const folder = mkdtempSync(path.join(tmpdir(), 'facts-'))

let files
try {
  const get = client(start())
  files = [await bootstrapFacts(get), await resourceFacts(get), ...(await openApiFacts(get))]
} finally {
  spawnSync(up, ['--stop', '--rm', folder], { stdio: ['ignore', 'ignore', 'inherit'] })
}

const stale = files.filter(({ name, content }) => read(place(name)) !== content)
for (const { name, content } of stale) {
  console.log(`${isCheck ? 'differs' : 'wrote'}: ${place(name)}`)
  if (!isCheck) writeFileSync(path.join(root, place(name)), content)
}
console.log(`${files.length} files of facts, ${stale.length} ${isCheck ? 'differ from what the real server says' : 'changed'}`)
if (isCheck && stale.length > 0) {
  console.error('run `node scripts/facts/server.mjs` and commit the result')
  process.exit(1)
}

function place(name) {
  return `src/kinds/kubernetes/facts/${name}.facts`
}

function read(file) {
  try {
    return readFileSync(path.join(root, file), 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Starts the server, which describes itself in `key=value` lines. */
function start() {
  const started = spawnSync(up, ['--no-fsync', folder], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  if (started.status !== 0) {
    console.error('the real server did not start; scripts/kube-assets/build makes its binaries (needs Go)')
    process.exit(1)
  }
  return Object.fromEntries(
    started.stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s)),
  )
}

/** A function that gets a path as parsed JSON. */
function client({ server, ca, token }) {
  const options = { ca: readFileSync(ca), headers: { authorization: `Bearer ${readFileSync(token, 'utf8').trim()}` } }
  return (where, accept = 'application/json') =>
    new Promise((resolve, reject) => {
      const request = https.get(server + where, { ...options, headers: { ...options.headers, accept } }, (response) => {
        const parts = []
        response.on('data', (part) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(parts).toString()
          if (response.statusCode === 200) resolve(JSON.parse(text))
          else reject(new Error(`${where} answered ${response.statusCode}: ${text}`))
        })
      })
      request.on('error', reject)
    })
}
