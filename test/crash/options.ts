/** The command line of the proof. */
import { parseArgs } from 'node:util'

export interface ProofOptions {
  kills: number
  seed: number
  /** Fewer writers and shorter lives. */
  quick: boolean
  /** Keep the data directory. */
  keep: boolean
}

export function proofOptions(args: readonly string[]): ProofOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: 'string', default: '500' },
      seed: { type: 'string' },
      quick: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  })
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
  const kills = Number(values.kills)
  if (!Number.isInteger(kills) || kills < 1 || !Number.isInteger(seed))
    throw new Error('usage: npm run prove:crash -- [--kills N] [--seed S] [--quick] [--keep]')
  return { kills, seed, quick: values.quick, keep: values.keep }
}
