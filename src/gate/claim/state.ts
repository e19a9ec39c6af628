/** What the status of a claim says: for everybody who reads claims but does not decide about them. Pure. */
import type { DataSourceClaim } from '../../kinds/volcano/index.ts'
import { findCondition } from '../../kube/conditions.ts'

export const RESOLVED = 'Resolved'
export const READY = 'Ready'
export const PLACED = 'Placed'
export const BOUND = 'Bound'

export interface ClaimState {
  /** The conditions are about the spec as it is now; otherwise `gate.claim` has not looked at it yet. */
  isCurrent: boolean
  /** The DataSource that is bound. */
  source: string | undefined
  /** Why workloads must wait for it: the first of Resolved and Ready that is False. */
  waits: { reason: string; message: string } | undefined
}

export function claimState(claim: DataSourceClaim): ClaimState {
  const conditions = [RESOLVED, READY].map((type) => findCondition(claim.status?.conditions, type))
  const isCurrent = conditions.every((one) => one !== undefined && one.observedGeneration === claim.metadata.generation)
  const first = conditions.find((one) => one?.status === 'False')
  return {
    isCurrent,
    source: boundSourceOf(claim),
    waits: first === undefined ? undefined : { reason: first.reason ?? '', message: first.message ?? '' },
  }
}

/** Either of the two fields is enough: the definition of somebody else may have no place for the other. */
export function boundSourceOf({ status }: DataSourceClaim): string | undefined {
  if (status?.phase !== 'Bound') return undefined
  return status.boundTo || status.boundDataSource || undefined
}
