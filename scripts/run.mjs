// Runs a TypeScript program of the tests or benchmarks: node scripts/run.mjs FILE.ts [arguments]
// Bundled to a file of its own below dist/, so that packages resolve and several can run at once.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { bundle } from './bundle.mjs'

const [file, ...args] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: node scripts/run.mjs FILE.ts [arguments]')
  process.exit(2)
}
const out = path.join('dist', 'run', String(process.pid))
await bundle({ entryPoints: { program: file }, outdir: out, outExtension: { '.js': '.mjs' } })
const child = spawn(process.execPath, ['--enable-source-maps', '--expose-gc', path.join(out, 'program.mjs'), ...args], { stdio: 'inherit' })
// Ctrl-C also reaches the child; it cleans up, and this process waits for it.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.on('exit', (code, signal) => {
  rmSync(out, { recursive: true, force: true })
  process.exit(code ?? (signal === 'SIGINT' ? 130 : 143))
})
