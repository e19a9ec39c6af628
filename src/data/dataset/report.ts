/**
 * What a cache reports about itself, and when it is asked again: often while the figures change, seldom when they do not. The
 * report is what some program printed, so everything about it is checked. Pure.
 */
import { isJsonObject } from '../../base/json.ts'
import type { CacheState } from '../../kinds/fluid/well-known.ts'
import type { Outcome } from '../../runtime/controller.ts'
import { WORKER_REPORT_BYTES } from '../scaling/worker-report.ts'
import { shown } from './text.ts'

/** The figures of a cache, as they are shown. */
export interface Report {
  cacheStates: Readonly<Partial<Record<CacheState, string>>>
  ufsTotal?: string
  fileNum?: string
  /** Why a source cannot be listed now; what was found of it before is served. */
  sourceProblem?: string
}

/** The outcome of asking, with what was known before. */
export interface Asked {
  atMs: number
  /** To be asked again after this long. */
  intervalMs: number
  /** The last one that came. */
  report?: Report
  reportedAtMs?: number
  /** Why none came; undefined: one did. */
  problem?: string
  failingSinceMs?: number
}

export interface Pace {
  /** While the figures change; also the width of a slot of time, of which each asks once at most. */
  everyMs: number
  /** When they do not. */
  atMostMs: number
}

export const DEFAULT_PACE: Pace = Object.freeze({ everyMs: 10_000, atMostMs: 60_000 })
/** After this long without a report the dataset says so. */
export const SILENCE_MS = 60_000
/** A line for each worker may be part of it. */
export const REPORT_BYTES = WORKER_REPORT_BYTES

const LONGEST = 64
const LONGEST_PROBLEM = 400
const PLAIN = /^[\x20-\x7e]+$/

const STATES: readonly CacheState[] = [
  'cached',
  'lowWaterMark',
  'highWaterMark',
  'nonCacheable',
  'cachedPercentage',
  'cacheCapacity',
  'cacheHitRatio',
  'localHitRatio',
  'remoteHitRatio',
  'cacheThroughputRatio',
  'localThroughputRatio',
  'remoteThroughputRatio',
]

const UNKNOWN = 'N/A'

/** Of a cache that has no bytes, or that nobody can ask. */
export const NO_REPORT: Report = Object.freeze({
  ufsTotal: UNKNOWN,
  fileNum: UNKNOWN,
  cacheStates: Object.freeze(
    Object.fromEntries(
      STATES.filter((state) => !['lowWaterMark', 'highWaterMark', 'nonCacheable'].includes(state)).map((state) => [state, UNKNOWN]),
    ),
  ),
})

/** Throws when it is none. Members that are not known, or not short plain texts, are left out. */
export function parseReport(text: string): Report {
  const found = parsed(text)
  if (!isJsonObject(found)) throw new Error('the report is no JSON object')
  const textAt = (name: string): string | undefined => {
    const value = Object.hasOwn(found, name) ? found[name] : undefined
    return typeof value === 'string' && value.length <= LONGEST && PLAIN.test(value) ? value : undefined
  }
  const states = STATES.flatMap((state) => {
    const value = textAt(state)
    return value === undefined ? [] : [[state, value] as const]
  })
  const problem = Object.hasOwn(found, 'problem') ? found.problem : undefined
  return {
    cacheStates: Object.fromEntries(states),
    // An engine that does not say how large its sources are does not find it out either.
    ufsTotal: textAt('ufsTotal') ?? UNKNOWN,
    fileNum: textAt('fileNum') ?? UNKNOWN,
    ...(typeof problem === 'string' && problem !== '' ? { sourceProblem: shown(problem, LONGEST_PROBLEM) } : {}),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the report is not JSON')
  }
}

/** Whether it is time to ask, by what was heard in the last slots of time. */
export type Asking =
  /** The answer will come. */
  | { is: 'running'; last: Asked | undefined }
  | { is: 'due'; last: Asked | undefined; slot: number }
  | { is: 'early'; last: Asked | undefined; inMs: number }

export interface Heard {
  nowMs: number
  pace: Pace
  /** How long an answer can take. */
  longestMs: number
  outcomeIn(slot: number): Outcome<Asked> | undefined
}

export function asking({ nowMs, pace, longestMs, outcomeIn }: Heard): Asking {
  const current = Math.floor(nowMs / pace.everyMs)
  const oldest = current - Math.ceil((pace.atMostMs + longestMs) / pace.everyMs) - 1
  let dueMs: number | undefined
  for (let slot = current; slot >= oldest; slot--) {
    const outcome = outcomeIn(slot)
    if (outcome === undefined) continue
    if (outcome.state === 'running') return { is: 'running', last: lastBefore(slot) }
    if (outcome.state === 'done') return whenDue(dueMs ?? outcome.value.atMs + outcome.value.intervalMs, outcome.value)
    // It was given up: nothing is known of it but that.
    dueMs ??= (slot + 1) * pace.everyMs
  }
  return whenDue(dueMs ?? nowMs, undefined)

  function whenDue(atMs: number, last: Asked | undefined): Asking {
    return atMs <= nowMs ? { is: 'due', last, slot: current } : { is: 'early', last, inMs: atMs - nowMs }
  }

  function lastBefore(running: number): Asked | undefined {
    for (let slot = running - 1; slot >= oldest; slot--) {
      const outcome = outcomeIn(slot)
      if (outcome?.state === 'done') return outcome.value
    }
    return undefined
  }
}

const isSame = (a: Report | undefined, b: Report): boolean => JSON.stringify(a) === JSON.stringify(b)

export function heardReport(report: Report, previous: Asked | undefined, { atMs, pace }: { atMs: number; pace: Pace }): Asked {
  const isQuiet = previous !== undefined && previous.problem === undefined && isSame(previous.report, report)
  return { atMs, reportedAtMs: atMs, report, intervalMs: isQuiet ? Math.min(previous.intervalMs * 2, pace.atMostMs) : pace.everyMs }
}

export function heardProblem(problem: string, previous: Asked | undefined, { atMs, pace }: { atMs: number; pace: Pace }): Asked {
  const failingSinceMs = previous?.failingSinceMs ?? atMs
  const isLasting = previous?.problem !== undefined && atMs - failingSinceMs >= SILENCE_MS
  const { report, reportedAtMs } = previous ?? {}
  const intervalMs = isLasting ? Math.min(previous.intervalMs * 2, pace.atMostMs) : pace.everyMs
  return { atMs, intervalMs, problem, failingSinceMs, ...(report === undefined ? {} : { report, reportedAtMs }) }
}
