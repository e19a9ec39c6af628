/**
 * The proof that the builtin cache survives kill -9: `npm run prove:cache -- --kills 200 [--seed S] [--megabytes N] [--part P]`.
 * Part `programs`: its programs alone, on loopback addresses. Ends with `N passed, N failed`; exit code 1 when a check failed,
 * with the seed and the directory.
 */
import { mkdtempSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Cleanup, runProgram } from '../machine/interrupt.ts'
import { hasPassed, reportLines } from './checks.ts'
import { proofOptions } from './options.ts'
import type { Part } from './part.ts'
import { removeFolder } from './programs/leftovers.ts'
import { provePrograms } from './programs/prove-programs.ts'

/** The first is the default. */
const PARTS: ReadonlyMap<string, Part> = new Map([['programs', provePrograms]])

/** One line that is overwritten on a terminal; in a log, a line now and then. */
function progress(): (text: string) => void {
  const isTerminal = process.stderr.isTTY === true
  let lastMs = performance.now()
  return (text) => {
    if (isTerminal) process.stderr.write(`\r\u001b[K${text}`)
    else if (text !== '' && performance.now() - lastMs > 10_000) {
      lastMs = performance.now()
      process.stderr.write(`${text}\n`)
    }
  }
}

async function prove(later: Cleanup): Promise<number> {
  const options = proofOptions(process.argv.slice(2), [...PARTS.keys()])
  const part = PARTS.get(options.part)
  if (part === undefined) throw new Error(`there is no part ${options.part}`)
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-prove-cache-'))
  let isGood = false
  later(() => {
    if (isGood && !options.keep) removeFolder(folder)
  })
  const began = performance.now()
  const shown = progress()
  const { checks, figures } = await part({ options, folder, later, progress: shown })
  shown('')
  isGood = checks.every(hasPassed)
  console.log([...figures, `seed ${options.seed}, ${Math.round((performance.now() - began) / 1000)} s`].join('\n'))
  const { kills, seed, megabytes } = options
  if (!isGood) {
    console.error(`again with: npm run prove:cache -- --kills ${kills} --seed ${seed} --megabytes ${megabytes} --part ${options.part}`)
    console.error(`directory and logs: ${folder}`)
  }
  console.log(reportLines(checks).join('\n'))
  return isGood ? 0 : 1
}

await runProgram(prove)
