/** A score says how good a node is for a pod, from 0 to 100, compared with the other nodes that could take it. */
import type { Snapshot } from '../snapshot.ts'
import type { NodeState } from '../state/node-state.ts'
import type { PodInfo } from '../state/pod-info.ts'

export const MAX_SCORE = 100

export interface PreparedScore {
  of(node: NodeState): number
  /** Maps the results of `of` for all nodes, in their order, to 0 to 100. */
  normalise?(scores: number[], nodes: readonly NodeState[]): void
}

export interface Score {
  readonly name: string
  readonly weight: number
  /** Undefined when it does not apply to this pod. `nodes` are those that passed all filters. */
  prepare(pod: PodInfo, snapshot: Snapshot, nodes: readonly NodeState[]): PreparedScore | undefined
}

/** In proportion to the highest; reversed when less is better. */
export function normaliseByHighest(scores: number[], isLessBetter: boolean): void {
  let highest = 0
  for (const score of scores) highest = Math.max(highest, score)
  if (highest === 0) {
    if (isLessBetter) scores.fill(MAX_SCORE)
    return
  }
  for (let i = 0; i < scores.length; i++) {
    const share = Math.trunc((MAX_SCORE * (scores[i] ?? 0)) / highest)
    scores[i] = isLessBetter ? MAX_SCORE - share : share
  }
}
