/**
 * Cron schedules as CronJobs accept them: five fields, names such as `@daily`, `@every` with a duration, and the
 * `TZ=` prefix, which parses and is then refused elsewhere. Errors have the parser's own messages.
 */
import { parseDuration } from '../../../../kube/go-duration.ts'
import { goQuote } from '../../../../kube/go-print.ts'
import { type Parsed, parsed, unparsed } from '../../../../kube/parsed.ts'

interface Bounds {
  min: number
  max: number
  names?: readonly string[]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
]
const DESCRIPTORS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])
const EVERY = '@every '
const MAX_INT64 = 2n ** 63n - 1n

/** An error as the Go parser would word it, thrown and caught only within this file. */
class ScheduleProblem extends Error {}

/** The values a field allows; `isAny` when it was written as a star, which matters for days. */
export interface CronField {
  values: ReadonlySet<number>
  isAny: boolean
}

export type CronSchedule =
  | { minute: CronField; hour: CronField; dayOfMonth: CronField; month: CronField; dayOfWeek: CronField; zone?: string }
  /** A fixed time after the last run. */
  | { everyMs: number; zone?: string }

export function parseSchedule(schedule: string): Parsed<CronSchedule> {
  try {
    return parsed(readSchedule(schedule))
  } catch (problem) {
    if (problem instanceof ScheduleProblem) return unparsed(problem.message)
    throw problem
  }
}

export const scheduleProblem = (schedule: string): string | undefined => parseSchedule(schedule).error

function readSchedule(schedule: string): CronSchedule {
  if (!schedule.startsWith('TZ=') && !schedule.startsWith('CRON_TZ=')) return readTimes(schedule)
  const space = schedule.indexOf(' ')
  if (space < 0) throw new ScheduleProblem('invalid schedule format: runtime error: slice bounds out of range [:-1]')
  const zone = schedule.slice(schedule.indexOf('=') + 1, space)
  const problem = timeZoneProblem(zone)
  if (problem !== undefined) throw new ScheduleProblem(`provided bad location ${zone}: ${problem}`)
  return { ...readTimes(schedule.slice(space).trim()), zone }
}

const readTimes = (spec: string): CronSchedule => (spec.startsWith('@') ? readDescriptor(spec) : readFields(spec))

function readFields(spec: string): CronSchedule {
  const parts = spec.split(/\s+/).filter((part) => part !== '')
  if (parts.length !== FIELDS.length) {
    throw new ScheduleProblem(`expected exactly ${FIELDS.length} fields, found ${parts.length}: [${parts.join(' ')}]`)
  }
  const [minute, hour, dayOfMonth, month, dayOfWeek] = FIELDS.map((bounds, i) => readField(parts[i] ?? '', bounds))
  const none: CronField = { values: new Set(), isAny: false }
  return {
    minute: minute ?? none,
    hour: hour ?? none,
    dayOfMonth: dayOfMonth ?? none,
    month: month ?? none,
    dayOfWeek: dayOfWeek ?? none,
  }
}

function readDescriptor(spec: string): CronSchedule {
  const fields = DESCRIPTORS.get(spec)
  if (fields !== undefined) return readFields(fields)
  if (!spec.startsWith(EVERY)) throw new ScheduleProblem(`unrecognized descriptor: ${spec}`)
  const { value, error } = parseDuration(spec.slice(EVERY.length))
  if (error !== undefined) throw new ScheduleProblem(`failed to parse duration ${spec}: ${error}`)
  // Whole seconds, at least one.
  const seconds = value / 1_000_000_000n
  return { everyMs: seconds < 1n ? 1000 : Number(seconds) * 1000 }
}

function readField(field: string, bounds: Bounds): CronField {
  const values = new Set<number>()
  let isAny = false
  for (const text of field.split(',')) {
    if (text === '') continue
    const range = readRange(text, bounds)
    for (let value = range.start; value <= range.end; value += range.step) values.add(value)
    isAny ||= range.isAny
  }
  return { values, isAny }
}

interface Range {
  start: number
  end: number
  step: number
  isAny: boolean
}

function readRange(range: string, bounds: Bounds): Range {
  const [interval = '', ...steps] = range.split('/')
  const [low = '', ...highs] = interval.split('-')
  const isStar = low === '*' || low === '?'
  let [start, end] = [BigInt(bounds.min), BigInt(bounds.max)]
  if (!isStar) {
    start = numberOrName(low, bounds.names, bounds.min)
    if (highs.length > 1) throw new ScheduleProblem(`too many hyphens: ${range}`)
    end = highs.length === 0 ? start : numberOrName(highs[0] ?? '', bounds.names, bounds.min)
  }
  let step = 1n
  if (steps.length > 1) throw new ScheduleProblem(`too many slashes: ${range}`)
  if (steps.length === 1) {
    step = number(steps[0] ?? '')
    if (highs.length === 0) end = BigInt(bounds.max)
  }
  if (start < bounds.min) throw new ScheduleProblem(`beginning of range (${start}) below minimum (${bounds.min}): ${range}`)
  if (end > bounds.max) throw new ScheduleProblem(`end of range (${end}) above maximum (${bounds.max}): ${range}`)
  if (start > end) throw new ScheduleProblem(`beginning of range (${start}) beyond end of range (${end}): ${range}`)
  if (step === 0n) throw new ScheduleProblem(`step of range should be a positive number: ${range}`)
  return { start: Number(start), end: Number(end), step: Number(step), isAny: isStar && step === 1n }
}

function numberOrName(text: string, names: readonly string[] | undefined, first: number): bigint {
  const at = names?.indexOf(text.toLowerCase()) ?? -1
  return at >= 0 ? BigInt(at + first) : number(text)
}

function number(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text))
    throw new ScheduleProblem(`failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`)
  const value = text.length > 25 ? MAX_INT64 + 1n : BigInt(text.startsWith('+') ? text.slice(1) : text)
  if (value > MAX_INT64 || value < -MAX_INT64 - 1n) {
    throw new ScheduleProblem(`failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: value out of range`)
  }
  if (value < 0n) throw new ScheduleProblem(`negative number (${value}) not allowed: ${text}`)
  return value
}

/** The error of Go's time.LoadLocation for a name it cannot load. */
export function timeZoneProblem(zone: string): string | undefined {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return undefined
  if (zone.split('/').includes('..') || zone.startsWith('/') || zone.includes('\\')) return 'time: invalid location name'
  return isTimeZone(zone) ? undefined : `unknown time zone ${zone}`
}

/** Names of the time zone database outside its regions, where JavaScript ignores case or has gaps. */
const PLAIN_ZONES: ReadonlySet<string> = new Set(
  (
    'CET CST6CDT Cuba EET EST EST5EDT Egypt Eire Factory GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel ' +
    'Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC ' +
    'Universal W-SU WET Zulu posixrules'
  ).split(' '),
)

function isTimeZone(zone: string): boolean {
  // Offsets and lower-case names are time zones to JavaScript only.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) return false
  if (!zone.includes('/')) return PLAIN_ZONES.has(zone)
  const folded = zone.toLowerCase()
  const named = Intl.supportedValuesOf('timeZone').find((known) => known.toLowerCase() === folded)
  if (named !== undefined) return named === zone
  if (folded === zone) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
