/** Builds the client-go program in ./go and runs it: its lines are its checks. Needs Go; modules come from Go's own cache or proxy. */
import path from 'node:path'
import type { BareServer } from '../machine/bare-server.ts'
import { runCommand } from '../machine/run-command.ts'
import { type CheckResult, printResult } from './check.ts'

const PART = 'client-go'
const SOURCES = 'test/clients/go'
const MINUTES = 60_000

interface Line {
  check: string
  ok: boolean
  error?: string
}

export async function missingGo(): Promise<string | undefined> {
  const found = await runCommand('go', ['version']).catch(() => undefined)
  return found?.exitCode === 0 ? undefined : 'no go in PATH'
}

export async function checkClientGo(server: BareServer): Promise<CheckResult[]> {
  const program = path.join(server.folder, 'client-go')
  const built = await runCommand('go', ['build', '-mod=readonly', '-o', program, '.'], { cwd: SOURCES, timeoutMs: 15 * MINUTES })
  if (built.exitCode !== 0) return [printResult({ part: PART, name: 'build', error: built.stderr || 'no end within 15 minutes' })]
  const ran = await runCommand(program, ['--kubeconfig', server.kubeconfig], { timeoutMs: 10 * MINUTES })
  const lines = ran.stdout.split('\n').filter((line) => line !== '')
  const results = lines
    .map((line) => JSON.parse(line) as Line)
    .map(({ check, ok, error }) => printResult({ part: PART, name: check, error: ok ? undefined : (error ?? 'failed') }))
  const hasSaidAll = ran.exitCode === 0 || results.some((result) => result.error !== undefined)
  return hasSaidAll
    ? results
    : [...results, printResult({ part: PART, name: 'run', error: `exit code ${ran.exitCode}: ${ran.stderr.slice(-1000)}` })]
}
