/**
 * Whether the workloads of a claim are where its data is: pure, from their bindings alone. What was released stays released:
 * clusters that were allowed then count as inside, wherever the data is now.
 */
import { isJsonObject } from '../../base/json.ts'
import type { Binding } from '../../kinds/karmada/index.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { HELD_BECAUSE, HELD_BY, HELD_REASON, isHeldByUs, RELEASED, releasedAllow } from '../../runtime/seams/narrowing.ts'
import { listed, type Verdict } from '../source/locality.ts'

export interface Workload {
  /** `Job default/daily`. */
  name: string
  binding: Binding | undefined
}

export interface Placing {
  /** The name of the claim. */
  claim: string
  workloads: readonly Workload[]
  /** The clusters of its source. */
  clusters: readonly string[]
}

const RANK = { False: 2, Unknown: 1, True: 0 }

/** The worst of what is said about each workload; of several as bad, about the first by name. */
export function placed({ claim, workloads, clusters }: Placing): Verdict {
  const isIn = new Set(clusters)
  let worst: { name: string; verdict: Verdict } | undefined
  for (const { name, binding } of workloads) {
    const verdict = binding === undefined ? notScheduled(name) : ofWorkload(name, binding, { claim, isIn })
    const difference = worst === undefined ? 1 : RANK[verdict.status] - RANK[worst.verdict.status]
    if (worst === undefined || difference > 0 || (difference === 0 && compareStrings(name, worst.name) < 0)) worst = { name, verdict }
  }
  return worst?.verdict ?? { status: 'Unknown', reason: 'NoWorkload', message: 'there is no workload that needs it' }
}

const RELEASED_ALL: Verdict = { status: 'True', reason: 'Released', message: 'every workload is scheduled where the data is' }
/** Data that moves does not move what runs. */
const RELEASED_THEN: Verdict = { ...RELEASED_ALL, message: 'every workload is where the data was when it was released' }

const notScheduled = (name: string): Verdict => ({ status: 'Unknown', reason: 'NotScheduled', message: `${name} is not scheduled yet` })

function ofWorkload(name: string, binding: Binding, { claim, isIn }: { claim: string; isIn: ReadonlySet<string> }): Verdict {
  const targets = (binding.spec?.clusters ?? []).map((cluster) => cluster.name)
  if (targets.length === 0) return isHeldByUs(binding) ? held(name, binding, claim) : notScheduled(name)
  const { annotations } = binding.metadata
  const released = isReleasedFor(annotations?.[RELEASED], claim) ? new Set(releasedAllow(annotations?.[RELEASED])) : undefined
  const outside = targets.filter((target) => !isIn.has(target))
  if (outside.length === 0) return RELEASED_ALL
  if (released !== undefined && targets.every((target) => released.has(target))) return RELEASED_THEN
  return {
    status: 'False',
    reason: 'NoCommonCluster',
    message: `${name} is in ${listed(outside.sort(compareStrings))}, where the data is not`,
  }
}

/**
 * A hold that comes from this claim is about to end, because the claim has a source now; unless the source is the problem.
 * Then the condition Ready says so, or it has no cluster in common with something else.
 */
function held(name: string, { metadata: { annotations = {} } }: Binding, claim: string): Verdict {
  const reason = annotations[HELD_REASON] ?? ''
  const isByThis = (annotations[HELD_BY] ?? '').split(', ').includes(`DataSourceClaim/${claim}`)
  if (isByThis && reason !== 'NoCommonCluster') return notScheduled(name)
  const because = annotations[HELD_BECAUSE]
  return {
    status: 'False',
    reason: IS_REASON.test(reason) ? reason : 'Held',
    message: because === undefined ? `${name} is held` : `${name} is held: ${because.slice(0, LONGEST_TEXT)}`,
  }
}

/** What a condition may contain: whoever may write bindings can write anything there. */
const IS_REASON = /^[A-Za-z]([A-Za-z0-9_,:]{0,1000}[A-Za-z0-9_])?$/
const LONGEST_TEXT = 4000

function isReleasedFor(text: string | undefined, claim: string): boolean {
  if (text === undefined) return false
  try {
    const record: unknown = JSON.parse(text)
    return isJsonObject(record) && isJsonObject(record.claims) && Object.hasOwn(record.claims, claim)
  } catch {
    // Somebody has edited it: then nothing was recorded.
    return false
  }
}
