/** The members of the fleet: how they are reached, how they are, and what joining one makes. */
import type { Controller } from '../../runtime/controller.ts'
import { cluster } from './cluster/controller.ts'
import { clusterStatus } from './cluster-status/controller.ts'
import type { ClusterStatusOptions, ReportsOptions } from './cluster-status/reports.ts'

export type { ClusterStatusOptions } from './cluster-status/reports.ts'
export { createSaidSummaries } from './cluster-status/said-summaries.ts'
export { JoinError, joinMember, unjoinMember } from './join.ts'

export const membershipControllers = (facts: ReportsOptions, options: Partial<ClusterStatusOptions> = {}): Controller[] => [
  cluster,
  clusterStatus(facts, options),
]
