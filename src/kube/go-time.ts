/**
 * Times and durations as Go reads and writes them, with Go's own error texts, and ages as kubectl prints them.
 * An instant is whole seconds since the epoch plus nanoseconds; durations are bigint nanoseconds (an int64 in Go).
 */
import { goTimeQuote } from './go-print.ts'
import { type Parsed, parsed, unparsed } from './parsed.ts'

export interface Instant {
  seconds: number
  nanos: number
}

interface Element {
  kind: 'literal' | 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'micros' | 'zone'
  layout: string
}

const element = (kind: Element['kind'], layout: string): Element => ({ kind, layout })
const literal = (layout: string): Element => element('literal', layout)

const DATE_TIME: readonly Element[] = [
  element('year', '2006'),
  literal('-'),
  element('month', '01'),
  literal('-'),
  element('day', '02'),
  literal('T'),
  element('hour', '15'),
  literal(':'),
  element('minute', '04'),
  literal(':'),
  element('second', '05'),
]
const RFC3339: readonly Element[] = [...DATE_TIME, element('zone', 'Z07:00')]
const RFC3339_MICRO: readonly Element[] = [...DATE_TIME, element('micros', '.000000'), element('zone', 'Z07:00')]

/** metav1.Time: RFC 3339, fractions allowed and dropped when written. */
export const parseTime = (text: string): Parsed<Instant> =>
  PLAIN.test(text) ? parsed({ seconds: Date.parse(text) / 1000, nanos: 0 }) : parseLayout(text, RFC3339)

/** The form of nearly every time: whole seconds in UTC, on a day that every month has. JavaScript parses it the same way. */
const PLAIN = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

/** metav1.MicroTime: RFC 3339 with exactly six decimals. */
export const parseMicroTime = (text: string): Parsed<Instant> => parseLayout(text, RFC3339_MICRO)

interface Clockwork {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  nanos: number
  offsetSeconds: number
}

/** What one layout element made of the rest of the text; `range` names a value out of range, `bad` a mismatch. */
type Step = { rest: string; range?: string; bad?: undefined } | { rest: string; bad: true; range?: undefined }

function parseLayout(text: string, layout: readonly Element[]): Parsed<Instant> {
  const layoutText = layout.map((e) => e.layout).join('')
  const fail = (message: string) => unparsed<Instant>(`parsing time ${goTimeQuote(text)}${message}`)
  const at: Clockwork = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0, nanos: 0, offsetSeconds: 0 }
  let rest = text
  for (const [i, e] of layout.entries()) {
    const step = readElement(e, rest, at, layout[i + 1]?.kind === 'micros')
    if (step.range !== undefined) return fail(`: ${step.range} out of range`)
    if (step.bad) return fail(` as ${goTimeQuote(layoutText)}: cannot parse ${goTimeQuote(step.rest)} as ${goTimeQuote(e.layout)}`)
    rest = step.rest
  }
  if (rest !== '') return fail(`: extra text: ${goTimeQuote(rest)}`)
  if (at.day < 1 || at.day > daysIn(at.year, at.month)) return fail(': day out of range')
  const days = daysFromCivil(at.year, at.month, at.day)
  return parsed({ seconds: days * 86400 + at.hour * 3600 + at.minute * 60 + at.second - at.offsetSeconds, nanos: at.nanos })
}

function readElement(e: Element, text: string, at: Clockwork, fractionFollows: boolean): Step {
  switch (e.kind) {
    case 'literal':
      return text.startsWith(e.layout) ? { rest: text.slice(e.layout.length) } : { rest: text, bad: true }
    case 'year':
      if (!/^[0-9]{4}/.test(text)) return { rest: text, bad: true }
      at.year = Number(text.slice(0, 4))
      return { rest: text.slice(4) }
    case 'second':
      return readSecond(text, at, fractionFollows)
    case 'micros':
      if (!/^[.,][0-9]{6}/.test(text)) return { rest: text, bad: true }
      at.nanos = Number(text.slice(1, 7)) * 1000
      return { rest: text.slice(7) }
    case 'zone':
      return readZone(text, at)
    default:
      return readNumber(e.kind, text, at)
  }
}

const LIMITS = { month: [1, 12], day: [0, 99], hour: [0, 23], minute: [0, 59] } as const

function readNumber(kind: keyof typeof LIMITS, text: string, at: Clockwork): Step {
  const match = (kind === 'hour' ? /^[0-9]{1,2}/ : /^[0-9]{2}/).exec(text)
  if (match === null) return { rest: text, bad: true }
  const value = Number(match[0])
  at[kind] = value
  const [low, high] = LIMITS[kind]
  const rest = text.slice(match[0].length)
  return value < low || value > high ? { rest, range: kind } : { rest }
}

/** A fraction is read even where the layout has none, as long as the layout does not ask for one next. */
function readSecond(text: string, at: Clockwork, fractionFollows: boolean): Step {
  if (!/^[0-9]{2}/.test(text)) return { rest: text, bad: true }
  at.second = Number(text.slice(0, 2))
  const rest = text.slice(2)
  if (at.second > 59) return { rest, range: 'second' }
  const fraction = fractionFollows ? null : /^[.,]([0-9]+)/.exec(rest)
  if (fraction === null) return { rest }
  at.nanos = Number((fraction[1] ?? '').slice(0, 9).padEnd(9, '0'))
  return { rest: rest.slice(fraction[0].length) }
}

function readZone(text: string, at: Clockwork): Step {
  if (text.startsWith('Z')) return { rest: text.slice(1) }
  const match = /^(.)([0-9]{2}):([0-9]{2})/s.exec(text)
  if (match === null) return { rest: text, bad: true }
  const hours = Number(match[2])
  const minutes = Number(match[3])
  const rest = text.slice(6)
  if (minutes > 60) return { rest, range: 'time zone offset minute' }
  if (hours > 24) return { rest, range: 'time zone offset hour' }
  if (match[1] !== '+' && match[1] !== '-') return { rest: text, bad: true }
  at.offsetSeconds = (match[1] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60
  return { rest }
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
const daysIn = (year: number, month: number): number => (month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31)

/** Days since 1970-01-01 in the proleptic Gregorian calendar. */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const yearOfEra = y - era * 400
  return era * 146097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719468
}

const ZERO_TIME_SECONDS = daysFromCivil(1, 1, 1) * 86400

/** Go's zero time, which the wire shows as null. */
export const isZeroTime = (at: Instant): boolean => at.seconds === ZERO_TIME_SECONDS && at.nanos === 0

/** As metav1.Time writes it: UTC, whole seconds. */
export const formatInstant = (at: Instant): string => `${dateTime(at)}Z`

/** As metav1.MicroTime writes it: UTC, six decimals. */
export const formatMicroInstant = (at: Instant): string => `${dateTime(at)}.${pad(Math.floor(at.nanos / 1000), 6)}Z`

function dateTime(at: Instant): string {
  const days = Math.floor(at.seconds / 86400)
  const { year, month, day } = civilFromDays(days)
  const rest = at.seconds - days * 86400
  const time = `${pad(Math.floor(rest / 3600), 2)}:${pad(Math.floor(rest / 60) % 60, 2)}:${pad(rest % 60, 2)}`
  const sign = year < 0 ? '-' : ''
  return `${sign}${pad(Math.abs(year), 4)}-${pad(month, 2)}-${pad(day, 2)}T${time}`
}

function civilFromDays(days: number): { year: number; month: number; day: number } {
  const z = days + 719468
  const era = Math.floor(z / 146097)
  const dayOfEra = z - era * 146097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shifted = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shifted < 10 ? shifted + 3 : shifted - 9
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day: dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1 }
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0')

/** Milliseconds since the epoch of a time on the wire, or undefined when it is absent or malformed. */
export function timeToMs(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const at = parseTime(text).value
  return at === undefined || isZeroTime(at) ? undefined : at.seconds * 1000 + Math.floor(at.nanos / 1e6)
}
