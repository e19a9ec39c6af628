// Builds dist/sluice.mjs with the chunks it loads when a command needs them, dist/shim.mjs, which stays with a container,
// and dist/cache.mjs, the programs of the builtin cache.
// --entry SOURCE FILE builds one program of the tests.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

export async function buildProgram() {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  await rm(path.join(root, 'dist', 'chunks'), { recursive: true, force: true })
  await bundle({
    absWorkingDir: root,
    entryPoints: { sluice: 'src/main.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    define: { SLUICE_VERSION: JSON.stringify(version) },
  })
  await buildEntry('src/minicluster/process/shim/main.ts', path.join(root, 'dist', 'shim.mjs'))
  await buildEntry('src/cache/main.ts', path.join(root, 'dist', 'cache.mjs'))
}

/** One small self-contained file: every container has a process that runs the shim. */
async function buildEntry(source, outfile) {
  await bundle({ absWorkingDir: root, entryPoints: [source], outfile, sourcemap: false, minify: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [option, source, file] = process.argv.slice(2)
  if (option === '--entry' && file !== undefined) await buildEntry(source, path.resolve(file))
  else await buildProgram()
}
