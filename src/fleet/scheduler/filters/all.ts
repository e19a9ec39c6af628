/**
 * The filters, in the order in which they are asked: a cluster's first no is the one that is reported. One line each. Those
 * that do not spare clusters already in use come first, so that a binding that loses its last cluster gets the same
 * reasons before and after it has lost it.
 */
import { apiEnablement } from './api-enablement.ts'
import { clusterAffinity } from './cluster-affinity.ts'
import { clusterEviction } from './cluster-eviction.ts'
import type { Filter } from './filter.ts'
import { spreadConstraint } from './spread-constraint.ts'
import { taintToleration } from './taint-toleration.ts'

export const FILTERS: readonly Filter[] = [clusterAffinity, clusterEviction, spreadConstraint, apiEnablement, taintToleration]
