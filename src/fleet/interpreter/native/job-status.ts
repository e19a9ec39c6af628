/**
 * The status of a Job over all members. A finished template is never touched again. Servers accept a finished Job only when
 * nothing is active and the condition that announces the end is present too, and counters of finished pods never decrease;
 * so a failure is announced at once (FailureTarget) and becomes final (Failed) when the other members have stopped as well.
 */
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import { type Fields, fieldsAt, listAt, numberAt, textAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type MemberStatus, memberStatuses, printedCounters, sumOf, withStatus } from './status.ts'
import { earliestTime, latestTime } from './times.ts'

export function aggregateJob(template: KubeObject, items: readonly AggregatedStatusItem[]): KubeObject {
  const old = fieldsAt(template, 'status')
  if (conditionOf(old, 'Complete') !== undefined || conditionOf(old, 'Failed') !== undefined) return template
  const members = memberStatuses(items)
  const counters: Record<string, number> = {
    active: sumOf(members, 'active'),
    // What was done in a cluster that was left still counts.
    succeeded: Math.max(sumOf(members, 'succeeded'), numberAt(old, 'succeeded') ?? 0),
    failed: Math.max(sumOf(members, 'failed'), numberAt(old, 'failed') ?? 0),
  }
  const failing = failureOf(old, members)
  const isComplete = failing === undefined && items.length > 0 && members.length === items.length && members.every(hasCompleted)
  const startTime = startTimeOf(old, members, failing === undefined ? items.length : 1)
  // Clocks of members differ, but a Job cannot end before it started.
  const ended = isComplete ? latestTime([completionTimeOf(members), startTime]) : undefined
  const conditions = failing !== undefined ? failed(failing, counters.active === 0) : isComplete ? completed(ended) : []
  return withStatus(template, {
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(startTime === undefined ? {} : { startTime }),
    ...(ended === undefined ? {} : { completionTime: ended }),
    ...printedCounters((counter) => counters[counter] ?? 0, [], Object.keys(counters)),
  })
}

const conditionOf = (status: Fields, type: string): Fields | undefined =>
  listAt(status, 'conditions').find((condition) => condition.type === type && condition.status === 'True')

const hasCompleted = ({ status }: MemberStatus): boolean => finishOf(status)?.type === 'Complete'

/** The condition that finished a Job, whichever comes first. */
const finishOf = (status: Fields): Fields | undefined =>
  listAt(status, 'conditions').find(({ type, status: truth }) => (type === 'Complete' || type === 'Failed') && truth === 'True')

interface Failure {
  message: string
  first: string | undefined
  last: string | undefined
}

/** Once announced, a failure stays, even when the cluster where it happened is left. */
function failureOf(old: Fields, members: readonly MemberStatus[]): Failure | undefined {
  const conditions = members.flatMap(({ cluster, status }) => {
    const condition = finishOf(status)
    return condition?.type === 'Failed'
      ? [{ cluster, at: textAt(condition, 'lastTransitionTime') ?? textAt(condition, 'lastProbeTime') }]
      : []
  })
  const times = conditions.map(({ at }) => at)
  const announced = conditionOf(old, 'FailureTarget')
  const first = textAt(announced, 'lastTransitionTime') ?? earliestTime(times)
  if (conditions.length > 0) {
    const clusters = conditions.map(({ cluster }) => cluster).join(',')
    return { message: `Job executed failed in member clusters ${clusters}`, first, last: latestTime(times) ?? first }
  }
  return announced === undefined ? undefined : { message: textAt(announced, 'message') ?? '', first, last: first }
}

/** An unknown time is printed as null, as Go does. */
const condition = (type: string, at: string | undefined, reason: string, message: string): Fields => ({
  type,
  status: 'True',
  lastProbeTime: at ?? null,
  lastTransitionTime: at ?? null,
  reason,
  message,
})

function failed({ message, first, last }: Failure, isFinal: boolean): Fields[] {
  const announced = condition('FailureTarget', first, 'JobFailed', message)
  return isFinal ? [condition('Failed', last, 'JobFailed', message), announced] : [announced]
}

const completed = (at: string | undefined): Fields[] => [
  condition('Complete', at, 'Completed', 'Job completed'),
  condition('SuccessCriteriaMet', at, 'CompletionsReached', 'All member clusters have met success criteria'),
]

/** The earliest start, once enough members have started; a reported start time stays. */
function startTimeOf(old: Fields, members: readonly MemberStatus[], enough: number): string | undefined {
  const reported = textAt(old, 'startTime')
  if (reported !== undefined) return reported
  const starts = members.map(({ status }) => textAt(status, 'startTime')).filter((time) => time !== undefined)
  return starts.length >= enough ? earliestTime(starts) : undefined
}

/** The latest end. A server requires it of a completed Job, so the time of the condition is the fallback. */
function completionTimeOf(members: readonly MemberStatus[]): string | undefined {
  return latestTime(
    members.map(({ status }) => textAt(status, 'completionTime') ?? textAt(conditionOf(status, 'Complete'), 'lastTransitionTime')),
  )
}
