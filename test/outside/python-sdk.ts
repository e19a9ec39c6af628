/** Runs the program ./python/sdk.py, which uses Fluid's Python SDK as its users do: its lines are its checks. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type CheckResult, printResult } from '../clients/check.ts'
import { runCommand } from '../machine/run-command.ts'
import { missingPython, pythonWith } from './python-packages.ts'

const PART = 'fluid-pysdk'
/** The newest version of the SDK. It cannot work with newer clients of Kubernetes: it uses what was removed there. */
const PACKAGES = ['fluid-pysdk==1.0.4', 'kubernetes==30.1.0']
const PROGRAM = 'test/outside/python/sdk.py'
const MINUTES = 60_000

interface Line {
  check: string
  error?: string
}

export const missingForSdk = missingPython

export async function checkPythonSdk({ kubeconfig, folder }: { kubeconfig: string; folder: string }): Promise<CheckResult[]> {
  const python = await pythonWith(PACKAGES)
  const data = path.join(folder, 'books')
  mkdirSync(data)
  for (const name of ['one', 'two', 'three']) writeFileSync(path.join(data, `${name}.txt`), `${name}\n`.repeat(100))
  const ran = await runCommand(python, [PROGRAM, kubeconfig, data], {
    timeoutMs: 10 * MINUTES,
    env: { ...process.env, PYTHONUNBUFFERED: '1' },
  })
  const lines = ran.stdout.split('\n').filter((line) => line !== '')
  const results = lines.map((line) => JSON.parse(line) as Line).map(({ check, error }) => printResult({ part: PART, name: check, error }))
  const hasSaidAll = ran.exitCode === 0 || results.some(({ error }) => error !== undefined)
  return hasSaidAll
    ? results
    : [...results, printResult({ part: PART, name: 'run', error: `exit code ${ran.exitCode}: ${ran.stderr.slice(-2000)}` })]
}
