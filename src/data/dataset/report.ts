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
  /** Each is asked after the one before has answered: the order of answers, also when the clock is set back. */
  count: number
  /** Which workers there were. */
  workers: string
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

/** When it is asked: the turns of a slot of time follow one another. */
export interface Turn {
  slot: number
  turn: number
}

/** Whether it is time to ask, by what was heard in the last slots of time. */
export type Asking =
  /** The answer will come. */
  | { is: 'running'; last: Asked | undefined }
  | { is: 'due'; last: Asked | undefined; at: Turn }
  | { is: 'early'; last: Asked | undefined; inMs: number }

export interface Heard {
  nowMs: number
  pace: Pace
  /** How long an answer can take. */
  longestMs: number
  /** Which workers there are: with others the figures are other ones, and it is asked at once. */
  workers: string
  outcomeOf(turn: Turn): Outcome<Asked> | undefined
}

/** However often workers come and go in one slot. */
const MOST_TURNS = 8

/** How far a clock may be set back without forgetting the last answer. */
const SLOTS_AHEAD = 6

export function asking({ nowMs, pace, longestMs, workers, outcomeOf }: Heard): Asking {
  const current = Math.floor(nowMs / pace.everyMs)
  const oldest = current - Math.ceil((pace.atMostMs + longestMs) / pace.everyMs) - 1
  let isRunning = false
  let last: Asked | undefined
  /** After an attempt that was given up: nothing is known of it but that. */
  let notBeforeMs = 0
  for (let slot = oldest; slot <= current + SLOTS_AHEAD; slot++)
    for (const outcome of outcomesIn(slot)) {
      if (outcome.state === 'running') isRunning = true
      if (outcome.state === 'failed') notBeforeMs = (Math.min(slot, current) + 1) * pace.everyMs
      if (outcome.state === 'done' && outcome.value.count > (last?.count ?? 0)) {
        last = outcome.value
        notBeforeMs = 0
      }
    }
  if (isRunning) return { is: 'running', last }
  const isOfOthers = last?.workers !== workers
  const dueMs = Math.max(notBeforeMs, last === undefined || isOfOthers ? nowMs : last.atMs + last.intervalMs)
  const turn = outcomesIn(current).length
  if (dueMs > nowMs) return { is: 'early', last, inMs: dueMs - nowMs }
  if (turn >= MOST_TURNS) return { is: 'early', last, inMs: (current + 1) * pace.everyMs - nowMs }
  return { is: 'due', last, at: { slot: current, turn } }

  function outcomesIn(slot: number): Outcome<Asked>[] {
    const outcomes: Outcome<Asked>[] = []
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const outcome = outcomeOf({ slot, turn })
      if (outcome === undefined) break
      outcomes.push(outcome)
    }
    return outcomes
  }
}

const isSame = (a: Report | undefined, b: Report): boolean => JSON.stringify(a) === JSON.stringify(b)

const countAfter = (previous: Asked | undefined): number => (previous?.count ?? 0) + 1

interface Hearing {
  atMs: number
  pace: Pace
  workers: string
}

export function heardReport(report: Report, previous: Asked | undefined, { atMs, pace, workers }: Hearing): Asked {
  const isQuiet = previous !== undefined && previous.problem === undefined && isSame(previous.report, report)
  const intervalMs = isQuiet ? Math.min(previous.intervalMs * 2, pace.atMostMs) : pace.everyMs
  return { atMs, count: countAfter(previous), workers, reportedAtMs: atMs, report, intervalMs }
}

export function heardProblem(problem: string, previous: Asked | undefined, { atMs, pace, workers }: Hearing): Asked {
  const failingSinceMs = previous?.failingSinceMs ?? atMs
  const isLasting = previous?.problem !== undefined && atMs - failingSinceMs >= SILENCE_MS
  const { report, reportedAtMs } = previous ?? {}
  const intervalMs = isLasting ? Math.min(previous.intervalMs * 2, pace.atMostMs) : pace.everyMs
  return {
    atMs,
    count: countAfter(previous),
    workers,
    intervalMs,
    problem,
    failingSinceMs,
    ...(report === undefined ? {} : { report, reportedAtMs }),
  }
}
