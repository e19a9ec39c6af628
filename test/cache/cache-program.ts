/** dist/cache.mjs as the sources are now, in a folder of its own, so that every start of a proof runs the same code. */
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/** Below `folder`; to be run with this Node. */
export async function buildCacheProgram(folder: string): Promise<string> {
  const { bundle } = (await import(pathToFileURL(path.resolve('scripts/bundle.mjs')).href)) as { bundle(options: object): Promise<unknown> }
  const file = path.join(folder, 'cache.mjs')
  await bundle({ entryPoints: ['src/cache/main.ts'], outfile: file, sourcemap: false, minify: true })
  return file
}
