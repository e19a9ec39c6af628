/**
 * The proof that the builtin cache survives kill -9: `npm run prove:cache -- --kills 200 [--seed S] [--megabytes N] [--part P]`.
 * Part `sluice`: a real `sluice up`, whose pods read; Sluice is killed, too. Part `programs`: the programs of the cache alone, on
 * loopback addresses, which are faster to kill. Without `--part` both, each with that many kills. Ends with `N passed, N failed`;
 * exit code 1 when a check failed, with the seed and the directory.
 */
import { mkdtempSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Cleanup, runProgram } from '../machine/interrupt.ts'
import { type Check, hasPassed, reportLines } from './checks.ts'
import { type ProofOptions, proofOptions } from './options.ts'
import type { Part } from './part.ts'
import { removeFolder } from './programs/leftovers.ts'
import { provePrograms } from './programs/prove-programs.ts'
import { proveSluice } from './sluice/prove-sluice.ts'

const PARTS: ReadonlyMap<string, Part> = new Map([
  ['sluice', proveSluice],
  ['programs', provePrograms],
])

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

async function proveParts(later: Cleanup): Promise<number> {
  const options = proofOptions(process.argv.slice(2), [...PARTS.keys()])
  console.log(`seed ${options.seed}`)
  const all: Check[] = []
  for (const [name, part] of PARTS) {
    if (options.part !== undefined && options.part !== name) continue
    const checks = await provePart({ name, part, options, later })
    all.push(...checks)
    if (!checks.every(hasPassed)) break
  }
  console.log(reportLines(all).join('\n'))
  return all.every(hasPassed) ? 0 : 1
}

interface PartRun {
  name: string
  part: Part
  options: ProofOptions
  later: Cleanup
}

async function provePart({ name, part, options, later }: PartRun): Promise<readonly Check[]> {
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
  console.log([`part ${name}, ${Math.round((performance.now() - began) / 1000)} s`, ...figures].join('\n'))
  const { kills, seed, megabytes } = options
  if (!isGood) {
    console.error(`again with: npm run prove:cache -- --kills ${kills} --seed ${seed} --megabytes ${megabytes} --part ${name}`)
    console.error(`directory and logs: ${folder}`)
  }
  return checks
}

await runProgram(proveParts)
