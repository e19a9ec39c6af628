/** NodeResourcesBalancedAllocation: prefers nodes on which the pod brings the used shares of CPU and memory closer together. */

import { CPU, MEMORY } from '../../../kube/amounts.ts'
import { MAX_SCORE, type Score } from './score.ts'

const UNCHANGED = 75

export const balancedAllocation: Score = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  prepare({ requests }) {
    const cpu = requests.get(CPU) ?? 0
    const memory = requests.get(MEMORY) ?? 0
    // A pod that requests nothing changes no balance; if scored, all such pods would go to one node.
    if (cpu === 0 && memory === 0) return undefined
    return {
      of({ allocatable, requested }) {
        const has = { cpu: allocatable.get(CPU) ?? 0, memory: allocatable.get(MEMORY) ?? 0 }
        // With one resource alone there is nothing to balance.
        if (has.cpu === 0 || has.memory === 0) return UNCHANGED
        const used = { cpu: requested.get(CPU) ?? 0, memory: requested.get(MEMORY) ?? 0 }
        const before = balance(used.cpu / has.cpu, used.memory / has.memory)
        const after = balance((used.cpu + cpu) / has.cpu, (used.memory + memory) / has.memory)
        return MAX_SCORE / 2 + Math.trunc((MAX_SCORE / 2 + after - before) / 2)
      },
    }
  },
}

/** 100 when both shares are equal, 50 when one is full and the other empty. */
function balance(a: number, b: number): number {
  const deviation = Math.abs((Math.min(a, 1) - Math.min(b, 1)) / 2)
  return Math.trunc((1 - deviation) * MAX_SCORE)
}
