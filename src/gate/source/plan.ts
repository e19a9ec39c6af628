/** What to write of a source: its finalizer, its end, or its status, one at a time. Pure. */

import type { Cluster } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { DATA_SOURCE_FINALIZER } from '../../kinds/volcano/well-known.ts'
import { type EventIntent, NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../runtime/finalizer.ts'
import { isWritten, wantedStatus } from './decide.ts'

export interface Observed {
  source: DataSource
  bound: readonly DataSourceClaim[]
  clusters: readonly Cluster[]
  /**
   * What has become of the claims that the status lists, where nothing is bound and the source is to go with the last.
   * `uncertain`: one is still bound, but the cache does not show it.
   */
  recorded: 'none' | 'gone' | 'there' | 'uncertain'
  nowMs: number
}

export type Seen = Observed | { waitMs: number } | undefined

const ASK_AGAIN_MS = 1000

export function plan(seen: Seen): Plan {
  if (seen === undefined) return NOTHING_TO_DO
  if ('waitMs' in seen) return { actions: [], requeueAfterMs: seen.waitMs }
  const { source, bound, recorded } = seen
  const isHeld = hasFinalizer(source, DATA_SOURCE_FINALIZER)
  if (source.metadata.deletionTimestamp !== undefined)
    return isHeld && bound.length === 0 ? { actions: [removeFinalizer(DATA_SOURCES, source, DATA_SOURCE_FINALIZER)] } : NOTHING_TO_DO
  if (bound.length > 0 && !isHeld) return { actions: [addFinalizer(DATA_SOURCES, source, DATA_SOURCE_FINALIZER)] }
  if (recorded === 'uncertain') return { actions: [], requeueAfterMs: ASK_AGAIN_MS }
  if (recorded === 'gone') return { actions: [{ do: 'delete', resource: DATA_SOURCES, of: source, events: reclaimed(source) }] }
  const wanted = wantedStatus(seen)
  if (!isWritten(source, wanted)) {
    const { refs, boundClaims, conditions } = wanted
    const twins = refs.length === 0 ? absent(source) : { claimRef: refs, claimRefs: refs }
    const status = { ...twins, boundClaims, conditions }
    return { actions: [{ do: 'patch', resource: DATA_SOURCES, of: source, subresource: 'status', patch: { status } }] }
  }
  return isHeld && bound.length === 0 ? { actions: [removeFinalizer(DATA_SOURCES, source, DATA_SOURCE_FINALIZER)] } : NOTHING_TO_DO
}

const absent = ({ status }: DataSource): Record<string, null> => ({
  ...(status?.claimRef === undefined ? {} : { claimRef: null }),
  ...(status?.claimRefs === undefined ? {} : { claimRefs: null }),
})

const reclaimed = (of: DataSource): EventIntent => ({
  of,
  type: 'Normal',
  reason: 'Reclaimed',
  message: 'the last bound claim was deleted, and the reclaim policy is Delete',
})
