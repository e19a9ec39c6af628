/** The scores, each with its weight. One line each. */
import { balancedAllocation } from './balanced-allocation.ts'
import { interPodAffinityScore } from './inter-pod-affinity.ts'
import { leastAllocated } from './least-allocated.ts'
import { nodeAffinityScore } from './node-affinity.ts'
import { podTopologySpreadScore } from './pod-topology-spread.ts'
import type { Score } from './score.ts'
import { taintTolerationScore } from './taint-toleration.ts'

export const SCORES: readonly Score[] = [
  taintTolerationScore,
  nodeAffinityScore,
  leastAllocated,
  podTopologySpreadScore,
  interPodAffinityScore,
  balancedAllocation,
]
