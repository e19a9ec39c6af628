/**
 * Durations as Go reads and writes them, with Go's error texts, and as people read them in a table.
 * A duration is a bigint of nanoseconds: an int64 in Go, too wide for a number.
 */
import { goTimeQuote } from './go-print.ts'
import { type Parsed, parsed, unparsed } from './parsed.ts'

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1000n],
  ['µs', 1000n],
  ['μs', 1000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])
const MAX_INT64 = 2n ** 63n - 1n
const SECOND = 1_000_000_000n

/** time.ParseDuration. */
export function parseDuration(text: string): Parsed<bigint> {
  const bad = unparsed<bigint>(`time: invalid duration ${goTimeQuote(text)}`)
  const negative = text.startsWith('-')
  let rest = /^[-+]/.test(text) ? text.slice(1) : text
  if (rest === '0') return parsed(0n)
  if (rest === '' || text.length > 1000) return bad
  let total = 0n
  while (rest !== '') {
    const match = /^([0-9]*)(?:\.([0-9]*))?/.exec(rest)
    const whole = match?.[1] ?? ''
    const fraction = match?.[2] ?? ''
    if (whole === '' && fraction === '') return bad
    rest = rest.slice(match?.[0].length ?? 0)
    const unit = /^[^.0-9]*/.exec(rest)?.[0] ?? ''
    if (unit === '') return unparsed(`time: missing unit in duration ${goTimeQuote(text)}`)
    const factor = UNITS.get(unit)
    if (factor === undefined) return unparsed(`time: unknown unit ${goTimeQuote(unit)} in duration ${goTimeQuote(text)}`)
    rest = rest.slice(unit.length)
    total += BigInt(whole || '0') * factor + (BigInt(fraction || '0') * factor) / 10n ** BigInt(fraction.length)
    if (total > MAX_INT64 + (negative ? 1n : 0n)) return bad
  }
  return parsed(negative ? -total : total)
}

/** time.Duration.String(): `1h0m0s`, `1.5s`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s'
  const sign = nanoseconds < 0n ? '-' : ''
  const value = nanoseconds < 0n ? -nanoseconds : nanoseconds
  if (value < SECOND) {
    const [unit, size] = value < 1000n ? (['ns', 0] as const) : value < 1_000_000n ? (['µs', 3] as const) : (['ms', 6] as const)
    return `${sign}${decimal(value, size)}${unit}`
  }
  const minutes = value / UNIT_MINUTE
  const seconds = `${decimal(value % UNIT_MINUTE, 9)}s`
  if (minutes === 0n) return sign + seconds
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`
}

const UNIT_MINUTE = 60n * SECOND

function decimal(value: bigint, digits: number): string {
  if (digits === 0) return String(value)
  const scale = 10n ** BigInt(digits)
  const fraction = String(value % scale)
    .padStart(digits, '0')
    .replace(/0+$/, '')
  return fraction === '' ? String(value / scale) : `${value / scale}.${fraction}`
}

/** A duration as kubectl shows an age: `45s`, `5m3s`, `3h12m`, `2d4h`, `400d`, `3y20d`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 192) return withRest(days, 'd', hours % 24, 'h')
  if (hours < 24 * 365 * 2) return `${days}d`
  const years = Math.trunc(days / 365)
  return hours < 24 * 365 * 8 ? withRest(years, 'y', days % 365, 'd') : `${years}y`
}

const withRest = (value: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${value}${unit}` : `${value}${unit}${rest}${restUnit}`
