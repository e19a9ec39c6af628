// Builds dist/sluice.mjs with the chunks it loads when a command needs them, and dist/shim.mjs, which stays with a container.
// --shim FILE builds the shim alone, for tests.
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
  await buildShim(path.join(root, 'dist', 'shim.mjs'))
}

/** One small file on its own: every container has a process that runs it. */
export async function buildShim(outfile) {
  await bundle({ absWorkingDir: root, entryPoints: ['src/minicluster/process/shim/main.ts'], outfile, sourcemap: false, minify: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [option, file] = process.argv.slice(2)
  if (option === '--shim' && file !== undefined) await buildShim(path.resolve(file))
  else await buildProgram()
}
