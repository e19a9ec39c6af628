// Builds dist/sluice.mjs, the whole program in one file.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

export async function buildProgram() {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  await bundle({
    absWorkingDir: root,
    entryPoints: { sluice: 'src/main.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    define: { SLUICE_VERSION: JSON.stringify(version) },
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildProgram()
