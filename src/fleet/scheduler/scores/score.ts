/** A score rates a cluster for a binding: 0 to 100. The sum of all scores determines the order. */
import type { ClusterInfo } from '../cluster-info.ts'
import type { Demand } from '../demand.ts'

export interface Score {
  readonly name: string
  score(demand: Demand, info: ClusterInfo): number
}

export const MIN_SCORE = 0
export const MAX_SCORE = 100
