/**
 * The status that a claim should have, and whether it has it: pure. Two fields carry the bound source under two names; a
 * server whose definition has only one of them prunes the other, which then counts as written.
 */
import { formatTime } from '../../base/clock.ts'
import { deepEqual } from '../../base/json.ts'
import type { DataSourceClaim } from '../../kinds/volcano/index.ts'
import { type Condition, findCondition, setCondition } from '../../kube/conditions.ts'
import type { Verdict } from '../source/locality.ts'
import type { Resolution } from './decide.ts'
import { BOUND, boundSourceOf, PLACED, READY, RESOLVED } from './state.ts'

export interface Observed {
  claim: DataSourceClaim
  resolution: Resolution
  /** The object that the claim names is something else. */
  isMismatch: boolean
  /** Why the source that was bound is not bound any more. */
  lostBecause: string | undefined
  ready: Verdict
  placed: Verdict
  /** All templates are known: otherwise nothing follows from one that is missing. */
  isComplete: boolean
  nowMs: number
}

export interface Wanted {
  phase: 'Pending' | 'Bound'
  source: string | undefined
  conditions: readonly Condition[]
}

const TYPES = [RESOLVED, READY, PLACED, BOUND]

export function wantedStatus(observed: Observed): Wanted {
  const { claim, resolution, nowMs } = observed
  const source = 'source' in resolution ? resolution.source.metadata.name : undefined
  const verdicts = { [RESOLVED]: resolved(observed), [READY]: observed.ready, [PLACED]: placedNow(observed), [BOUND]: bound(observed) }
  let conditions: readonly Condition[] = claim.status?.conditions ?? []
  for (const [type, verdict] of Object.entries(verdicts))
    if (verdict !== undefined)
      conditions = setCondition(conditions, { type, ...verdict, observedGeneration: claim.metadata.generation }, formatTime(nowMs))
  return { phase: source === undefined ? 'Pending' : 'Bound', source, conditions: inOrder(conditions) }
}

/** Ours first, so that the first False one is what the claim waits for; those of others are left alone. */
const inOrder = (conditions: readonly Condition[]): Condition[] => [
  ...TYPES.flatMap((type) => findCondition(conditions, type) ?? []),
  ...conditions.filter(({ type }) => !TYPES.includes(type)),
]

function resolved({ claim, resolution, isComplete }: Observed): Verdict {
  if ('source' in resolution)
    return { status: 'True', reason: 'SourceFound', message: `DataSource ${resolution.source.metadata.name} matches` }
  const before = isComplete || boundSourceOf(claim) !== undefined ? undefined : said(claim, RESOLVED)
  return before?.status === 'False' ? before : { status: 'False', ...resolution }
}

const placedNow = ({ claim, resolution, placed, isComplete }: Observed): Verdict =>
  isComplete || !('source' in resolution) ? placed : (said(claim, PLACED) ?? placed)

/** What a condition says about the spec as it is now. */
function said({ metadata, status }: DataSourceClaim, type: string): Verdict | undefined {
  const condition = findCondition(status?.conditions, type)
  if (condition === undefined || condition.observedGeneration !== metadata.generation) return undefined
  return { status: condition.status as Verdict['status'], reason: condition.reason ?? '', message: condition.message ?? '' }
}

/** About what happened, so it stays true afterwards; absent until something was bound or could not be. */
function bound({ claim, resolution, isMismatch, lostBecause }: Observed): Verdict | undefined {
  if ('source' in resolution)
    return { status: 'True', reason: 'BindingSuccessful', message: `DataSource ${resolution.source.metadata.name} is bound` }
  const invalid = (message: string): Verdict => ({ status: 'False', reason: 'BindingInvalid', message })
  if (isMismatch) return invalid(`DataSource ${claim.spec?.dataSourceName} was of another system or type`)
  if (lostBecause !== undefined) return invalid(lostBecause)
  const before = findCondition(claim.status?.conditions, BOUND)
  if (before === undefined) return undefined
  return before.status === 'False' ? invalid(before.message ?? '') : invalid('the DataSource that was bound can no longer be used')
}

/** Whether a server that may prune fields has nothing to be told. */
export function isWritten({ status }: DataSourceClaim, { phase, source, conditions }: Wanted): boolean {
  const isSame = status?.phase === phase && deepEqual(status.conditions, conditions)
  return (
    isSame && isTwinWritten([status?.boundTo, status?.boundDataSource], source, findCondition(status?.conditions, RESOLVED) !== undefined)
  )
}

/**
 * Both fields have the value. One that is absent counts as written if the other is right and we have written before: then
 * this server has no place for it.
 */
export function isTwinWritten(twins: readonly [unknown, unknown], wanted: unknown, hasWritten: boolean): boolean {
  if (wanted === undefined) return twins.every((one) => one === undefined)
  const present = twins.filter((one) => one !== undefined)
  return present.length > 0 && present.every((one) => deepEqual(one, wanted)) && (present.length === 2 || hasWritten)
}
