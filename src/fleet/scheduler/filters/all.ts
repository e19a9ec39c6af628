/**
 * The filters, in the order in which they run: the first one that rejects a cluster gives the reported reason. One line
 * each. Those that also apply to clusters already in use come first, so that a binding that loses its last cluster gets the
 * same reasons before and after losing it.
 */
import { apiEnablement } from './api-enablement.ts'
import { clusterAffinity } from './cluster-affinity.ts'
import { clusterEviction } from './cluster-eviction.ts'
import type { Filter } from './filter.ts'
import { spreadConstraint } from './spread-constraint.ts'
import { taintToleration } from './taint-toleration.ts'

export const FILTERS: readonly Filter[] = [clusterAffinity, clusterEviction, spreadConstraint, apiEnablement, taintToleration]
