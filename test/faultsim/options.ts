/** The command line of the proof. */
import { parseArgs } from 'node:util'

export interface ProofOptions {
  from: number
  to: number
  world: 'reference' | 'composed' | 'member'
  /** Every enumerated fault of every controller instead of seeds. */
  enumerate: boolean
  /** The defective twins instead of the correct ones: each must be found. */
  planted: boolean
  /** A script to run again instead of seeds. */
  replay?: string
}

const USAGE = 'usage: npm run prove:faults -- [--seeds A..B] [--world reference|composed|member] [--replay FILE] | --enumerate | --planted'

export function proofOptions(args: readonly string[]): ProofOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '1..2000' },
      world: { type: 'string', default: 'composed' },
      enumerate: { type: 'boolean', default: false },
      planted: { type: 'boolean', default: false },
      replay: { type: 'string' },
    },
  })
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(values.seeds) ?? []
  const { world } = values
  if (from === undefined || to === undefined || Number(to) < Number(from) || !isWorld(world)) throw new Error(USAGE)
  return { from: Number(from), to: Number(to), world, enumerate: values.enumerate, planted: values.planted, replay: values.replay }
}

const isWorld = (name: string): name is ProofOptions['world'] => ['reference', 'composed', 'member'].includes(name)
