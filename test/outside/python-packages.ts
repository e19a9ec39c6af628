/**
 * A virtual environment with named packages, made once and kept in the user's cache, outside the checkout. Its directory is named
 * after the packages, so another version gets another one; one that was not completed is made again.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { runCommand } from '../machine/run-command.ts'

const MINUTES = 60_000
const COMPLETE = 'complete'

export async function missingPython(): Promise<string | undefined> {
  const found = await runCommand('python3', ['-c', 'import venv, ensurepip']).catch(() => undefined)
  return found?.exitCode === 0 ? undefined : 'no python3 with venv in PATH'
}

/** The interpreter of the environment. */
export async function pythonWith(packages: readonly string[]): Promise<string> {
  const digest = createHash('sha256').update(packages.join('\n')).digest('hex').slice(0, 12)
  const folder = path.join(cacheFolder(), `python-${digest}`)
  const python = path.join(folder, 'bin', 'python')
  if (existsSync(path.join(folder, COMPLETE))) return python
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(path.dirname(folder), { recursive: true })
  console.log(`installing ${packages.join(', ')} in ${folder}`)
  await run('python3', '-m', 'venv', folder)
  await run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages)
  writeFileSync(path.join(folder, COMPLETE), '')
  return python
}

function cacheFolder(): string {
  const { XDG_CACHE_HOME: given } = process.env
  return path.join(given !== undefined && given !== '' ? given : path.join(os.homedir(), '.cache'), 'sluice-test')
}

async function run(file: string, ...args: string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await runCommand(file, args, { timeoutMs: 10 * MINUTES })
  if (exitCode !== 0) throw new Error(`${file} ${args.join(' ')}: exit code ${exitCode}\n${stdout}${stderr}`)
}
