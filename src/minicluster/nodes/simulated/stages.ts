/**
 * The life of a simulated pod as data: from which point to which, after how long, how likely among the alternatives. By
 * default a pod starts, runs, succeeds if it is meant to end, and is gone when it is deleted.
 */

/** Where a pod is in its life; a finished pod is at none of these. */
export type Point = 'bound' | 'initializing' | 'running' | 'crashed' | 'terminating'

/** What a stage turns the pod into. */
export type Turn = 'initializing' | 'running' | 'crashed' | 'succeeded' | 'failed' | 'gone'

export interface Stage {
  name: string
  from: Point
  to: Turn
  /** Only pods that are meant to end (restartPolicy other than Always), or only those that are not. Absent: both. */
  ends?: boolean
  /** Only pods with init containers, or only those without. */
  initializes?: boolean
  delayMs: number
  /** Up to this much longer; random, fixed per pod and stage. */
  jitterMs?: number
  /** Weight against the other stages that match (default 1); 0 is never. */
  weight?: number
  /** Of the containers, for `crashed`, `failed` and `succeeded` (default 1, 1, 0). */
  exitCode?: number
}

export const DEFAULT_STAGES: readonly Stage[] = Object.freeze([
  { name: 'pod-initialize', from: 'bound', to: 'initializing', initializes: true, delayMs: 0, jitterMs: 200 },
  { name: 'pod-ready', from: 'bound', to: 'running', initializes: false, delayMs: 0, jitterMs: 500 },
  { name: 'pod-initialized', from: 'initializing', to: 'running', delayMs: 1000, jitterMs: 500 },
  { name: 'pod-complete', from: 'running', to: 'succeeded', ends: true, delayMs: 1000, jitterMs: 1000 },
  { name: 'pod-restart', from: 'crashed', to: 'running', delayMs: 10_000 },
  { name: 'pod-gone', from: 'terminating', to: 'gone', delayMs: 0, jitterMs: 500 },
] satisfies Stage[])

const POINTS: readonly Point[] = ['bound', 'initializing', 'running', 'crashed', 'terminating']
const TURNS: readonly Turn[] = ['initializing', 'running', 'crashed', 'succeeded', 'failed', 'gone']
const FIELDS = ['name', 'from', 'to', 'ends', 'initializes', 'delayMs', 'jitterMs', 'weight', 'exitCode']
const DAY_MS = 86_400_000

/** A table from a user's file; throws an error that says which entry is wrong and what to write instead. */
export function parseStages(value: unknown): Stage[] {
  if (!Array.isArray(value) || value.length === 0) throw new Error('stages are a list with at least one entry: - {name, from, to, delayMs}')
  return value.map((entry, i) => parseStage(entry, `stages[${i}]`))
}

function parseStage(value: unknown, at: string): Stage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${at} is not a mapping`)
  const entry = value as Record<string, unknown>
  const unknown = Object.keys(entry).find((key) => !FIELDS.includes(key))
  if (unknown !== undefined) throw new Error(`${at}.${unknown} is unknown; a stage has ${FIELDS.join(', ')}`)
  if (typeof entry.name !== 'string' || entry.name === '') throw new Error(`${at}.name must be a text`)
  oneOf(entry.from, POINTS, `${at}.from`)
  oneOf(entry.to, TURNS, `${at}.to`)
  for (const flag of ['ends', 'initializes'] as const)
    if (entry[flag] !== undefined && typeof entry[flag] !== 'boolean') throw new Error(`${at}.${flag} must be true or false`)
  number(entry.delayMs, `${at}.delayMs`, 0, 365 * DAY_MS)
  if (entry.jitterMs !== undefined) number(entry.jitterMs, `${at}.jitterMs`, 0, 365 * DAY_MS)
  if (entry.weight !== undefined) number(entry.weight, `${at}.weight`, 0, 1_000_000)
  if (entry.exitCode !== undefined) number(entry.exitCode, `${at}.exitCode`, 0, 255)
  return entry as unknown as Stage
}

function oneOf(value: unknown, known: readonly string[], at: string): void {
  if (typeof value !== 'string' || !known.includes(value))
    throw new Error(`${at} must be one of ${known.join(', ')}, not ${JSON.stringify(value)}`)
}

function number(value: unknown, at: string, min: number, max: number): void {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < min || value > max)
    throw new Error(`${at} must be a number from ${min} to ${max}, not ${JSON.stringify(value)}`)
}
