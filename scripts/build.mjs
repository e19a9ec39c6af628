// Builds dist/sluice.mjs, the whole program in one file.
import { existsSync } from 'node:fs'
import { bundle } from './bundle.mjs'

if (existsSync('src/main.ts'))
  await bundle({
    entryPoints: { sluice: 'src/main.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
  })
