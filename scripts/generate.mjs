// Writes what is generated from the code: node scripts/generate.mjs [--check]
// deploy/crds/*.yaml and docs/reference/*; with --check nothing is written and stale files fail.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.mjs'
import { typesFile } from './facts/types.mjs'

/** Folders that hold generated files only: files in them that are no longer generated are removed. */
const OWNED = ['deploy/crds', 'deploy/rbac', 'docs/reference']

const isCheck = process.argv.includes('--check')
const files = new Map((await generated()).map(({ path: file, content }) => [file, content]))
const stale = [...files].filter(([file, content]) => !existsSync(file) || readFileSync(file, 'utf8') !== content).map(([file]) => file)
const extra = OWNED.filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder).map((name) => path.posix.join(folder, name)))
  .filter((file) => !files.has(file))

if (isCheck) {
  for (const file of stale) console.error(`stale: ${file}`)
  for (const file of extra) console.error(`no longer generated: ${file}`)
  if (stale.length + extra.length > 0) {
    console.error('run `npm run generate` and commit the result')
    process.exit(1)
  }
  console.log(`${files.size} generated files are up to date`)
} else {
  for (const file of stale) {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, files.get(file) ?? '')
    console.log(`wrote ${file}`)
  }
  for (const file of extra) {
    rmSync(file)
    console.log(`removed ${file}`)
  }
  console.log(`${files.size} generated files, ${stale.length} changed`)
}

async function generated() {
  const out = path.join('dist', 'generate', String(process.pid))
  try {
    const entryPoints = { pages: 'src/cli/reference/pages.ts' }
    await bundle({ entryPoints, outdir: out, outExtension: { '.js': '.mjs' } })
    const { referencePages } = await import(pathToFileURL(path.resolve(out, 'pages.mjs')).href)
    return [typesFile(), ...referencePages()]
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}
