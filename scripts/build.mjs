// Builds dist/sluice.mjs and the chunks it loads when a command needs them.
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
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildProgram()
