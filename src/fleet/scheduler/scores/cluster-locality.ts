/** Prefers clusters that the workload is in already. */
import { MAX_SCORE, MIN_SCORE, type Score } from './score.ts'

export const clusterLocality: Score = {
  name: 'ClusterLocality',
  score: ({ current }, { name }) => (current.has(name) ? MAX_SCORE : MIN_SCORE),
}
