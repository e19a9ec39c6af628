/** All clusters that an affinity means are equally good to it. */
import { MIN_SCORE, type Score } from './score.ts'

export const clusterAffinity: Score = { name: 'ClusterAffinity', score: () => MIN_SCORE }
