/** NodeResourcesBalancedAllocation: nodes whose shares of CPU and memory in use come closer together by the pod are better. */
import { CPU, MEMORY } from '../state/amounts.ts'
import { MAX_SCORE, type Score } from './score.ts'

const RESOURCES = [CPU, MEMORY]

export const balancedAllocation: Score = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  prepare({ requests }) {
    // A pod that asks for nothing changes no balance; scored, all such pods would go to one node.
    if (RESOURCES.every((name) => (requests.get(name) ?? 0) === 0)) return undefined
    return {
      of({ allocatable, requested }) {
        const known = RESOURCES.map((name) => ({ name, has: allocatable.get(name) ?? 0 })).filter(({ has }) => has !== 0)
        const before = balance(known.map(({ name, has }) => (requested.get(name) ?? 0) / has))
        const after = balance(known.map(({ name, has }) => ((requested.get(name) ?? 0) + (requests.get(name) ?? 0)) / has))
        return MAX_SCORE / 2 + Math.trunc((MAX_SCORE / 2 + after - before) / 2)
      },
    }
  },
}

/** 100 when both shares are equal, 50 when one is full and the other empty. */
function balance(shares: readonly number[]): number {
  const [a, b] = shares.map((share) => Math.min(share, 1))
  const deviation = a === undefined || b === undefined ? 0 : Math.abs((a - b) / 2)
  return Math.trunc((1 - deviation) * MAX_SCORE)
}
