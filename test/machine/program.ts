/**
 * The program as it is now, built into a folder of its own, so that a proof that starts it hundreds of times runs the same
 * code from its first start to its last, whatever is edited or built meanwhile.
 */
import { rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

export interface Program {
  /** To be run with this Node. */
  file: string
  remove(): void
}

let made = 0

export async function privateProgram(): Promise<Program> {
  const folder = path.resolve('dist', 'run', `program-${process.pid}-${made++}`)
  const { bundle } = (await import(pathToFileURL(path.resolve('scripts/bundle.mjs')).href)) as { bundle(options: object): Promise<unknown> }
  await bundle({
    entryPoints: { sluice: 'src/main.ts' },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    define: { SLUICE_VERSION: JSON.stringify('0.0.0-test') },
  })
  const beside = [
    ['src/minicluster/process/shim/main.ts', 'shim.mjs'],
    ['src/cache/main.ts', 'cache.mjs'],
  ] as const
  for (const [source, name] of beside)
    await bundle({ entryPoints: [source], outfile: path.join(folder, name), sourcemap: false, minify: true })
  return { file: path.join(folder, 'sluice.mjs'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}
