/**
 * Amounts as Fluid writes them in statuses and labels: sizes with two decimals, sizes with four digits, percentages, durations.
 * Rounded as Go rounds: a tie goes to the even digit, so that both write the same text.
 */
import { formatDuration } from '../../kube/go-duration.ts'

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const

interface Scaled {
  /** `bytes` in the unit is the whole number divided by this one. */
  divisor: bigint
  unit: string
}

function scaled(bytes: bigint): Scaled {
  let power = 0
  while (power < UNITS.length - 1 && bytes >= 1024n ** BigInt(power + 1)) power++
  return { divisor: 1024n ** BigInt(power), unit: UNITS[power] ?? 'B' }
}

/** A quotient with this many decimals. */
function decimals(dividend: bigint, divisor: bigint, digits: number): string {
  const scale = 10n ** BigInt(digits)
  const quotient = (dividend * scale) / divisor
  const twiceRest = 2n * ((dividend * scale) % divisor)
  const isUp = twiceRest > divisor || (twiceRest === divisor && quotient % 2n === 1n)
  const text = String(quotient + (isUp ? 1n : 0n)).padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

const whole = (bytes: number): bigint => (Number.isFinite(bytes) && bytes > 0 ? BigInt(Math.trunc(bytes)) : 0n)

/** `544.77MiB`, as in statuses. */
export function sizeText(bytes: number): string {
  const amount = whole(bytes)
  const { divisor, unit } = scaled(amount)
  return `${decimals(amount, divisor, 2)}${unit}`
}

/** `1GiB`, `1.5GiB`, as in labels of nodes: four digits at most. */
export function shortSizeText(bytes: number): string {
  const amount = whole(bytes)
  const { divisor, unit } = scaled(amount)
  const digits = 4 - String(amount / divisor).length
  const text = decimals(amount, divisor, Math.max(digits, 0))
  return `${text.includes('.') ? text.replace(/\.?0+$/, '') : text}${unit}`
}

const SIZE = /^(\d{1,30}(?:\.\d{1,30})?) ?([kmgtpe]?)i?b?$/i
const LETTERS = 'kmgtpe'

/** Bytes of a text like `544.77MiB`, `2 gb` or `17`: always powers of 1024. Undefined for anything else. */
export function parseSize(text: string): number | undefined {
  const match = text.length > 100 ? null : SIZE.exec(text)
  if (match === null) return undefined
  const letter = (match[2] ?? '').toLowerCase()
  return Math.trunc(Number(match[1]) * 1024 ** (letter === '' ? 0 : LETTERS.indexOf(letter) + 1))
}

/** `12.5%`; of nothing, everything is there. */
export function percentText(part: number, of: number): string {
  const all = whole(of)
  return all === 0n ? '100.0%' : `${decimals(whole(part) * 100n, all, 1)}%`
}

/** `1m20s`: whole seconds. */
export const durationText = (milliseconds: number): string =>
  formatDuration(BigInt(Math.round(Math.max(milliseconds, 0) / 1000)) * 1_000_000_000n)
