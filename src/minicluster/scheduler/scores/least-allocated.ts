/** NodeResourcesFit with LeastAllocated: the larger the share of CPU and memory that stays free, the better. */

import { CPU, MEMORY } from '../../../kube/amounts.ts'
import { MAX_SCORE, type Score } from './score.ts'

export const leastAllocated: Score = {
  name: 'NodeResourcesFit',
  weight: 1,
  prepare: ({ compared }) => ({
    of(node) {
      const cpu = freeShare(node.comparedCpu + compared.cpu, node.allocatable.get(CPU) ?? 0)
      const memory = freeShare(node.comparedMemory + compared.memory, node.allocatable.get(MEMORY) ?? 0)
      if (cpu === undefined || memory === undefined) return cpu ?? memory ?? 0
      return Math.trunc((cpu + memory) / 2)
    },
  }),
}

/** Undefined when the node does not report how much it has. */
function freeShare(requested: number, capacity: number): number | undefined {
  if (capacity === 0) return undefined
  return requested > capacity ? 0 : Math.trunc(((capacity - requested) * MAX_SCORE) / capacity)
}
