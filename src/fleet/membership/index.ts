/** The members of the fleet: connections to them, their status, and what joining one creates. */
import type { Controller } from '../../runtime/controller.ts'
import { cluster } from './cluster/controller.ts'
import { clusterStatus } from './cluster-status/controller.ts'
import type { ClusterStatusOptions, ReportsOptions } from './cluster-status/reports.ts'

export { createReportedSummaries } from './cluster-status/reported-summaries.ts'
export type { ClusterStatusOptions } from './cluster-status/reports.ts'
export { JoinError, joinMember, unjoinMember } from './join.ts'

export const membershipControllers = (deps: ReportsOptions, options: Partial<ClusterStatusOptions> = {}): Controller[] => [
  cluster,
  clusterStatus(deps, options),
]
