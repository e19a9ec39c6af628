/** What to write of a claim: at most one patch of its status, with what happened as an event. Pure. */
import type { DataSourceClaim } from '../../kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS } from '../../kinds/volcano/resources.ts'
import { DATA_SOURCE_CLAIM_FINALIZER } from '../../kinds/volcano/well-known.ts'
import { type EventIntent, NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { hasFinalizer, removeFinalizer } from '../../runtime/finalizer.ts'
import { bound, lost } from './events.ts'
import { boundSourceOf } from './state.ts'
import { isWritten, type Observed, type Wanted, wantedStatus } from './status.ts'

/** A claim of which nothing but its metadata was looked at, or that has to wait. */
export type Seen = Observed | { claim: DataSourceClaim; isLeft: true } | { waitMs: number } | undefined

export function plan(seen: Seen): Plan {
  if (seen === undefined) return NOTHING_TO_DO
  if ('waitMs' in seen) return { actions: [], requeueAfterMs: seen.waitMs }
  const { claim } = seen
  if (hasFinalizer(claim, DATA_SOURCE_CLAIM_FINALIZER))
    return { actions: [removeFinalizer(DATA_SOURCE_CLAIMS, claim, DATA_SOURCE_CLAIM_FINALIZER)] }
  if ('isLeft' in seen) return NOTHING_TO_DO
  const wanted = wantedStatus(seen)
  if (isWritten(claim, wanted)) return NOTHING_TO_DO
  const { phase, source, conditions } = wanted
  const twins = source === undefined ? absent(claim) : { boundTo: source, boundDataSource: source }
  return {
    actions: [
      {
        do: 'patch',
        resource: DATA_SOURCE_CLAIMS,
        of: claim,
        subresource: 'status',
        patch: { status: { phase, ...twins, conditions } },
        events: transitions(seen, wanted),
      },
    ],
  }
}

/** Nothing is taken away that is not there. */
const absent = ({ status }: DataSourceClaim): Record<string, null> => ({
  ...(status?.boundTo === undefined ? {} : { boundTo: null }),
  ...(status?.boundDataSource === undefined ? {} : { boundDataSource: null }),
})

function transitions({ claim, lostBecause }: Observed, { source }: Wanted): EventIntent[] {
  const before = boundSourceOf(claim)
  if (source === before) return []
  return source === undefined ? [lost(claim, lostBecause)] : [bound(claim, source, before === undefined ? undefined : lostBecause)]
}
