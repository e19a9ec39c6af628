/** All clusters that an affinity matches score the same. */
import { MIN_SCORE, type Score } from './score.ts'

export const clusterAffinity: Score = { name: 'ClusterAffinity', score: () => MIN_SCORE }
