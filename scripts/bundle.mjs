// How sources become runnable files: one esbuild call for the program, one for the tests. Shared by every script.
import { build } from 'esbuild'

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  sourcemap: 'linked',
  logLevel: 'warning',
  // Facts are large JSON texts: kept as text and parsed on first use, which is faster than a JavaScript literal.
  loader: { '.facts': 'text', '.jsonl': 'text' },
  // Packages stay in node_modules: bundling CommonJS ones into ESM breaks their dynamic requires.
  packages: 'external',
}

export function bundle(options) {
  return build({ ...common, ...options })
}
