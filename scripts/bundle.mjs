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
  // Bundled interpreter rules are the YAML that a user would apply.
  loader: { '.facts': 'text', '.jsonl': 'text', '.yaml': 'text' },
  // CommonJS packages that are bundled into the ES module still load Node's own modules through `require`.
  banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  // Loaded only when a certificate is created, and not suited to bundling.
  external: ['@peculiar/x509', 'reflect-metadata', '@kubernetes/client-node'],
}

export function bundle(options) {
  return build({ ...common, ...options })
}
