/** The scores that are added up. One line each. */
import { clusterAffinity } from './cluster-affinity.ts'
import { clusterLocality } from './cluster-locality.ts'
import type { Score } from './score.ts'

export const SCORES: readonly Score[] = [clusterAffinity, clusterLocality]
