// Completes package-lock.json after `npm install`: adds the packages for other platforms that a parent lists as optional. npm leaves
// out those that the current registry does not have, and `npm ci` then refuses the lockfile. The entries are derived from the names
// (name, version, os, cpu, libc); on such a platform npm fetches them like any other package.
import { readFileSync, writeFileSync } from 'node:fs'

const FILE = 'package-lock.json'
const lock = JSON.parse(readFileSync(FILE, 'utf8'))
let added = 0

for (const parent of Object.values({ ...lock.packages }))
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`
    if (key in lock.packages) continue
    lock.packages[key] = entryFor(name, version, parent)
    added++
  }

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${FILE}: ${added} packages for other platforms added`)

// `@scope/binding-linux-arm64-musl` → linux, arm64, musl
function entryFor(name, version, parent) {
  const platform = name
    .split('/')
    .pop()
    .replace(/^(cli|binding)-/, '')
  const [os, cpu, abi = ''] = platform.split('-')
  const libc = os !== 'linux' ? undefined : abi.startsWith('musl') ? ['musl'] : abi.startsWith('gnu') ? ['glibc'] : undefined
  return { version, cpu: [cpu], ...(parent.dev ? { dev: true } : {}), ...(libc === undefined ? {} : { libc }), optional: true, os: [os] }
}
