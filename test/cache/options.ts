/** The command line of the proof. */
import { parseArgs } from 'node:util'

export interface ProofOptions {
  kills: number
  seed: number
  /** Of all files together, about. */
  megabytes: number
  /** Undefined: all of them. */
  part: string | undefined
  /** Keep the directory also when all is well. */
  keep: boolean
}

const MOST_KILLS = 100_000
const MOST_MEGABYTES = 4096

export function proofOptions(args: readonly string[], parts: readonly string[]): ProofOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: 'string', default: '200' },
      seed: { type: 'string' },
      megabytes: { type: 'string', default: '32' },
      part: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  })
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
  const [kills, megabytes, part] = [Number(values.kills), Number(values.megabytes), values.part]
  const isFine =
    [kills, megabytes, seed].every(Number.isInteger) &&
    kills >= 1 &&
    kills <= MOST_KILLS &&
    megabytes >= 12 &&
    megabytes <= MOST_MEGABYTES &&
    (part === undefined || parts.includes(part))
  if (!isFine)
    throw new Error(`usage: npm run prove:cache -- [--kills N] [--seed S] [--megabytes N, from 12] [--part ${parts.join('|')}] [--keep]`)
  return { kills, seed, megabytes, part, keep: values.keep }
}
