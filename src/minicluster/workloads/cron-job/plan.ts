/** What a CronJob needs next, decided from the CronJob and its Jobs at a given moment. Pure. */
import { formatTime } from '../../../base/clock.ts'
import { deepEqual } from '../../../base/json.ts'
import { CRON_JOBS, JOBS } from '../../../kinds/kubernetes/resources.ts'
import { parseSchedule, timeZoneProblem } from '../../../kinds/kubernetes/rules/workloads/cron-schedule.ts'
import type { CronJob, CronJobStatus, Job, ObjectReference } from '../../../kinds/kubernetes/types.ts'
import { compareStrings, goQuote } from '../../../kube/go-print.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import { type Action, type EventIntent, type KeyedEvent, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { controllerReference } from '../../../runtime/workloads/pod/ownership.ts'
import { finishedCondition } from '../job/conditions.ts'
import { dueOf, nextLookMs, type Timetable } from './due.ts'
import { formatWall, type WallClock, wallClock } from './next-time.ts'

const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
/** Events that no write shows are recorded only for a short time, so that a restart does not record them again. */
const NEW_MS = 5000

export interface Observed {
  cron: CronJob | undefined
  /** Jobs it controls. */
  jobs: readonly Job[]
  nowMs: number
  /** Whether a Job of this name exists, whoever made it. */
  isTaken(name: string): boolean
  /** False when the server has another version of the CronJob: then nothing is started until that one is known. */
  isCurrent: boolean
}

export function plan({ cron, jobs, nowMs, isTaken, isCurrent }: Observed): Plan {
  if (cron === undefined) return NOTHING_TO_DO
  const surplus = finishedBeyondLimits(cron, jobs)
  const kept = jobs.filter((job) => !surplus.includes(job))
  const { status, events } = nextStatus(cron, kept)
  const current: CronJob = { ...cron, status }
  const start = isCurrent ? planStart(current, { nowMs, isTaken }) : NO_START
  const replaced = new Set(start.replaces.map(({ uid }) => uid))
  const leaving = [...surplus, ...jobs.filter(({ metadata }) => replaced.has(metadata.uid))]
  const active = (status.active ?? []).filter(({ uid }) => !replaced.has(uid))
  const patch = statusPatch(cron, { ...status, active: active.length === 0 ? undefined : active })
  const write: Action[] =
    patch === undefined ? [] : [{ do: 'patch', resource: CRON_JOBS, of: cron, patch: { status: patch }, subresource: 'status', events }]
  return {
    actions: [...leaving.map((job) => deleteAction(cron, job)), ...write, ...start.create],
    events: [...start.events, ...unexpected(cron, kept, nowMs)],
    requeueAfterMs: start.requeueAfterMs,
  }
}

const conditionTypeOf = (job: Job): string | undefined => finishedCondition(job)?.type

/** The oldest first; those that never started last. */
function finishedBeyondLimits(cron: CronJob, jobs: readonly Job[]): Job[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cron.spec ?? {}
  const beyond = (type: string, limit: number | undefined): Job[] => {
    const finished = jobs.filter((job) => conditionTypeOf(job) === type && job.metadata.deletionTimestamp === undefined)
    if (limit === undefined || finished.length <= limit) return []
    const startOf = (job: Job): number => timeToMs(job.status?.startTime) ?? Number.MAX_SAFE_INTEGER
    const sorted = finished.sort((a, b) => startOf(a) - startOf(b) || compareStrings(a.metadata.name ?? '', b.metadata.name ?? ''))
    return sorted.slice(0, finished.length - limit)
  }
  return [...beyond('Complete', successfulJobsHistoryLimit), ...beyond('Failed', failedJobsHistoryLimit)]
}

/** The start a Job was created for; undefined for Jobs that somebody else created in the CronJob's name. */
function scheduledMsOf(cron: CronJob, job: Job): number | undefined {
  const { annotations = {}, name } = job.metadata
  const ms = Object.hasOwn(annotations, SCHEDULED_AT) ? timeToMs(annotations[SCHEDULED_AT]) : undefined
  return ms !== undefined && name === jobName(cron, ms) ? ms : undefined
}

/** Recomputed completely from the existing Jobs, so that it does not matter where the last pass was interrupted. */
function nextStatus(cron: CronJob, jobs: readonly Job[]): { status: CronJobStatus; events: EventIntent[] } {
  const events: EventIntent[] = []
  const record = (reason: string, message: string): void => void events.push({ of: cron, type: 'Normal', reason, message })
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]))
  const active = (cron.status?.active ?? []).filter(({ uid, name }) => {
    const job = byUid.get(uid)
    const condition = job === undefined ? undefined : conditionTypeOf(job)
    if (job === undefined) record('MissingJob', `Active job went missing: ${name}`)
    else if (condition !== undefined) record('SawCompletedJob', `Saw completed job: ${name}, condition: ${condition}`)
    return job !== undefined && condition === undefined
  })
  const known = new Set(active.map(({ uid }) => uid))
  const begun = jobs.filter(
    (job) =>
      !known.has(job.metadata.uid) &&
      conditionTypeOf(job) === undefined &&
      job.metadata.deletionTimestamp === undefined &&
      scheduledMsOf(cron, job) !== undefined,
  )
  const all = [...active, ...begun.sort((a, b) => compareStrings(a.metadata.name ?? '', b.metadata.name ?? '')).map(referenceTo)]
  const succeeded = jobs.filter((job) => conditionTypeOf(job) === 'Complete').map((job) => job.status?.completionTime)
  return {
    events,
    status: {
      active: all.length === 0 ? undefined : all,
      lastScheduleTime: latest([cron.status?.lastScheduleTime, ...jobs.map((job) => formatMaybe(scheduledMsOf(cron, job)))]),
      lastSuccessfulTime: latest([cron.status?.lastSuccessfulTime, ...succeeded]),
    },
  }
}

const formatMaybe = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : formatTime(ms))

function latest(times: readonly (string | undefined)[]): string | undefined {
  let [last, lastMs]: [string | undefined, number] = [undefined, Number.NEGATIVE_INFINITY]
  for (const time of times) {
    const ms = timeToMs(time)
    if (ms !== undefined && ms > lastMs) [last, lastMs] = [time, ms]
  }
  return last
}

function referenceTo({ metadata: { name, namespace, uid, resourceVersion } }: Job): ObjectReference {
  return { apiVersion: 'batch/v1', kind: 'Job', name, namespace, resourceVersion, uid }
}

function statusPatch(cron: CronJob, next: CronJobStatus): Record<string, unknown> | undefined {
  const live = (cron.status ?? {}) as Record<string, unknown>
  const patch: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(next)) if (!deepEqual(live[key], value)) patch[key] = value ?? null
  return Object.keys(patch).length === 0 ? undefined : patch
}

interface Start {
  create: Action[]
  /** Jobs that still run and are replaced. */
  replaces: readonly ObjectReference[]
  events: KeyedEvent[]
  requeueAfterMs?: number
}

const NO_START: Start = { create: [], replaces: [], events: [] }

function planStart(cron: CronJob, { nowMs, isTaken }: Pick<Observed, 'nowMs' | 'isTaken'>): Start {
  if (cron.metadata.deletionTimestamp !== undefined) return NO_START
  const timetable = readTimetable(cron, nowMs)
  if (timetable === undefined) return NO_START
  if ('reason' in timetable) return { ...NO_START, events: [timetable] }
  const due = dueOf(cron, timetable)
  if (due.error !== undefined)
    return { ...NO_START, events: [warning(cron, 'InvalidSchedule', `invalid schedule: ${cron.spec?.schedule} : ${due.error}`)] }
  const later: Start = { ...NO_START, requeueAfterMs: nextLookMs(cron, timetable) }
  const { scheduledMs } = due
  if (scheduledMs === undefined) return later
  const { concurrencyPolicy, startingDeadlineSeconds } = cron.spec ?? {}
  if (startingDeadlineSeconds !== undefined && scheduledMs + startingDeadlineSeconds * 1000 < nowMs)
    return { ...later, events: [warning(cron, 'MissSchedule', `Missed scheduled time to start a job: ${formatRfc1123(scheduledMs)}`)] }
  const active = cron.status?.active ?? []
  const name = jobName(cron, scheduledMs)
  const isMade = isTaken(name) || active.some((job) => job.name === name) || timeToMs(cron.status?.lastScheduleTime) === scheduledMs
  if (isMade) return later
  if (concurrencyPolicy === 'Forbid' && active.length > 0)
    return { ...later, events: nowMs - scheduledMs <= NEW_MS ? [forbidden(cron, scheduledMs)] : [] }
  const job = jobFor(cron, scheduledMs, timetable.clock)
  return {
    ...later,
    replaces: concurrencyPolicy === 'Replace' ? active : [],
    create: [createAction(cron, job, due.hasManyMissed)],
  }
}

/** Undefined while it is suspended; an event when the schedule cannot be parsed. */
function readTimetable(cron: CronJob, nowMs: number): Timetable | KeyedEvent | undefined {
  const { schedule: text = '', timeZone, suspend } = cron.spec ?? {}
  const unknown = (zone: string): string => timeZoneProblem(zone) ?? `unknown time zone ${zone}`
  const ownClock = wallClock(timeZone)
  if (ownClock === undefined || (timeZone !== undefined && timeZoneProblem(timeZone) !== undefined))
    return warning(cron, 'UnknownTimeZone', `invalid timeZone: ${goQuote(timeZone ?? '')}: ${unknown(timeZone ?? '')}`)
  if (suspend === true) return undefined
  const { value: schedule, error } = parseSchedule(text)
  const clock = schedule?.zone === undefined ? ownClock : wallClock(schedule.zone)
  if (schedule === undefined || clock === undefined)
    return warning(cron, 'UnparseableSchedule', `unparseable schedule: ${goQuote(text)} : ${error ?? unknown(schedule?.zone ?? '')}`)
  return { schedule, clock, nowMs }
}

const warning = (cron: CronJob, reason: string, message: string): KeyedEvent => ({
  key: `${reason} ${message}`,
  of: cron,
  type: 'Warning',
  reason,
  message,
})

const forbidden = (cron: CronJob, scheduledMs: number): KeyedEvent => ({
  key: `JobAlreadyActive ${scheduledMs}`,
  of: cron,
  type: 'Normal',
  reason: 'JobAlreadyActive',
  message: 'Not starting job because prior execution is running and concurrency policy is Forbid',
})

/** Jobs under our name that we did not start, as `kubectl create job --from` makes them. */
function unexpected(cron: CronJob, jobs: readonly Job[], nowMs: number): KeyedEvent[] {
  return jobs
    .filter((job) => {
      const isNew = nowMs - (timeToMs(job.metadata.creationTimestamp) ?? 0) <= NEW_MS
      return isNew && conditionTypeOf(job) === undefined && scheduledMsOf(cron, job) === undefined
    })
    .map((job) => ({
      ...warning(cron, 'UnexpectedJob', `Saw a job that the controller did not create or forgot: ${job.metadata.name}`),
      key: `UnexpectedJob ${job.metadata.uid}`,
    }))
}

/** A start has a fixed name, so that it happens once. */
const jobName = (cron: CronJob, scheduledMs: number): string => `${cron.metadata.name}-${Math.floor(scheduledMs / 60_000)}`

function jobFor(cron: CronJob, scheduledMs: number, clock: WallClock): Job {
  const { metadata = {}, spec = {} } = cron.spec?.jobTemplate ?? {}
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobName(cron, scheduledMs),
      namespace: cron.metadata.namespace,
      labels: { ...metadata.labels },
      annotations: { ...metadata.annotations, [SCHEDULED_AT]: formatWall(clock, scheduledMs) },
      ownerReferences: [controllerReference(cron)],
    },
    spec,
  }
}

function createAction(cron: CronJob, job: Job, hasManyMissed: boolean): Action {
  const created: EventIntent = { of: cron, type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${job.metadata.name}` }
  const message = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew'
  return {
    do: 'create',
    resource: JOBS,
    object: job,
    events: hasManyMissed ? [{ of: cron, type: 'Warning', reason: 'TooManyMissedTimes', message }, created] : created,
    eventOnFailure: (why) => ({ of: cron, type: 'Warning', reason: 'FailedCreate', message: `Error creating job: ${why}` }),
  }
}

function deleteAction(cron: CronJob, job: Job): Action {
  return {
    do: 'delete',
    resource: JOBS,
    of: job,
    propagation: 'Background',
    events: { of: cron, type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted job ${job.metadata.name}` },
    eventOnFailure: (why) => ({ of: cron, type: 'Warning', reason: 'FailedDelete', message: `Deleted job: ${why}` }),
  }
}

/** `Mon, 02 Jan 2006 15:04:05 -0700`, in UTC. */
const formatRfc1123 = (ms: number): string => new Date(ms).toUTCString().replace('GMT', '+0000')
