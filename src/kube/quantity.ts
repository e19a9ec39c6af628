/**
 * resource.Quantity: exact decimal numbers with a unit. A quantity is a bigint count of nano-units (the finest the
 * wire allows) unless its magnitude needs more, plus the format it was written in, which decides how it is
 * printed. Text in canonical form is kept as it was sent, as the real server does.
 */
import { type Parsed, parsed, unparsed } from './parsed.ts'

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

export interface Quantity {
  /** The value is `unscaled × 10^scale`; scale is never below -9. */
  readonly unscaled: bigint
  readonly scale: number
  readonly format: QuantityFormat
  /** The text as sent, kept when the real server would keep it too. */
  readonly text?: string
}

const FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const NUMERIC_ERROR = 'unable to parse numeric part of quantity'
const SUFFIX_ERROR = "unable to parse quantity's suffix"

const NANO = -9
const MAX_INT64 = 2n ** 63n - 1n
/** Exponents beyond this are refused: the real server would build a number of that many digits. */
const MAX_EXPONENT = 10_000
const MAX_DIGITS = 10_000

const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])
const BINARY_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
])
const DECIMAL_NAMES: ReadonlyMap<number, string> = new Map([...DECIMAL_SUFFIXES].map(([name, exponent]) => [exponent, name]))
const BINARY_NAMES: readonly string[] = ['', ...BINARY_SUFFIXES.keys()]

const SHAPE = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/

const ZERO: Quantity = Object.freeze({ unscaled: 0n, scale: 0, format: 'DecimalSI', text: '0' })

/** Reads what a JSON string or number holds (surrounding spaces are allowed there). */
export function tryParseQuantity(source: string | number): Parsed<Quantity> {
  const text = String(source).trim()
  if (text === '') return unparsed(FORMAT_ERROR)
  if (text === '0') return parsed(ZERO)
  const shape = text.length > MAX_DIGITS ? null : SHAPE.exec(text)
  if (shape === null) return unparsed(FORMAT_ERROR)
  const [, sign = '', whole = '', fraction = '', suffix = ''] = shape
  const unit = interpretSuffix(suffix)
  if (unit === undefined) return unparsed(SUFFIX_ERROR)
  const digits = `${whole === '' ? '0' : whole}${fraction}`
  const parts: Parts = { text, negative: sign === '-', digits, whole, fraction, unit }
  // The real parser takes a missing number for zero, unless it has to take the slow path.
  if (!fitsInt64(parts) && !/[0-9]/.test(text.slice(0, text.length - suffix.length))) return unparsed(NUMERIC_ERROR)
  return parsed(assemble(parts))
}

interface Unit {
  base: 2 | 10
  exponent: number
  format: QuantityFormat
}

function interpretSuffix(suffix: string): Unit | undefined {
  const decimal = DECIMAL_SUFFIXES.get(suffix)
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' }
  const binary = BINARY_SUFFIXES.get(suffix)
  if (binary !== undefined) return { base: 2, exponent: binary, format: 'BinarySI' }
  const exponent = /^[eE]([+-]?[0-9]+)$/.exec(suffix)
  if (exponent === null) return undefined
  const value = Number(exponent[1])
  return Math.abs(value) > MAX_EXPONENT ? undefined : { base: 10, exponent: value, format: 'DecimalExponent' }
}

interface Parts {
  text: string
  negative: boolean
  /** All digits, without leading zeros of the whole part. */
  digits: string
  whole: string
  fraction: string
  unit: Unit
}

/** Whether the real parser would hold the number in an int64; only then does it keep the text as sent. */
function fitsInt64({ whole, fraction, unit }: Parts): boolean {
  const wholeDigits = Math.max(whole.length, 1)
  if (unit.base === 10) return wholeDigits + fraction.length <= 18 && unit.exponent - fraction.length >= NANO
  return fraction === '' && 15 - wholeDigits - Math.trunc((unit.exponent * 3) / 10) - 1 >= 0
}

function assemble(parts: Parts): Quantity {
  const { text, digits, fraction, unit } = parts
  const sign = parts.negative ? -1n : 1n
  const magnitude = BigInt(digits)
  const fits = fitsInt64(parts)
  if (unit.base === 10) {
    const scale = unit.exponent - fraction.length
    if (!fits) return { ...roundUpTo(sign * magnitude, scale, NANO), format: unit.format }
    const keep = scale % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0'
    return { unscaled: sign * magnitude, scale, format: unit.format, ...(keep ? { text } : {}) }
  }
  const bytes = magnitude << BigInt(unit.exponent)
  if (!fits) return largeBinary(sign, bytes, fraction.length)
  return { unscaled: sign * bytes, scale: 0, format: 'BinarySI', ...((magnitude & 7n) !== 0n ? { text } : {}) }
}

/** Binary quantities are capped at the largest int64, and become decimal below one. */
function largeBinary(sign: bigint, unscaled: bigint, fractionDigits: number): Quantity {
  let rounded = roundUpTo(unscaled, -fractionDigits, NANO)
  if (compareScaled(rounded.unscaled, rounded.scale, MAX_INT64, 0) > 0) rounded = { unscaled: MAX_INT64, scale: 0 }
  const small = rounded.unscaled > 0n && compareScaled(rounded.unscaled, rounded.scale, 1n, 0) < 0
  return { unscaled: sign * rounded.unscaled, scale: rounded.scale, format: small ? 'DecimalSI' : 'BinarySI' }
}

/** Reads a quantity that is known to be valid; throws on anything else. */
export function parseQuantity(source: string | number): Quantity {
  const result = tryParseQuantity(source)
  if (result.error !== undefined) throw new Error(`cannot parse '${source}': ${result.error}`)
  return result.value
}

/** A whole number, or with `scale` -3 a number of thousandths, in the given format. */
export function quantityOf(value: number | bigint, format: QuantityFormat = 'DecimalSI', scale = 0): Quantity {
  return { unscaled: BigInt(value), scale, format }
}

/** What the server stores and returns for this quantity. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text
  const { unscaled, scale } = quantity
  if (unscaled === 0n) return '0'
  if (quantity.format === 'BinarySI') {
    const whole = toInteger(unscaled, scale)
    if (whole !== undefined && (whole <= -1024n || whole >= 1024n)) return formatBinary(whole)
    return formatDecimal(unscaled, scale, 'DecimalSI')
  }
  return formatDecimal(unscaled, scale, quantity.format)
}

function formatBinary(value: bigint): string {
  let amount = value
  let times = 0
  while ((amount >= 1024n || amount <= -1024n) && amount % 1024n === 0n && times < BINARY_NAMES.length - 1) {
    amount /= 1024n
    times++
  }
  return `${amount}${BINARY_NAMES[times]}`
}

function formatDecimal(unscaled: bigint, scale: number, format: QuantityFormat): string {
  let amount = unscaled
  let exponent = scale
  while (amount % 10n === 0n) {
    amount /= 10n
    exponent++
  }
  while (exponent % 3 !== 0) {
    amount *= 10n
    exponent--
  }
  if (format === 'DecimalExponent') return exponent === 0 ? `${amount}` : `${amount}e${exponent}`
  // Beyond exa there is no suffix; the real server then prints the bare mantissa, and so the value would change.
  return `${amount}${DECIMAL_NAMES.get(exponent) ?? ''}`
}

/** The canonical text of a quantity as sent, or Go's error. */
export function canonicalQuantity(source: string | number): Parsed<string> {
  const result = tryParseQuantity(source)
  return result.error !== undefined ? result : parsed(formatQuantity(result.value))
}

export const compareQuantities = (a: Quantity, b: Quantity): number => compareScaled(a.unscaled, a.scale, b.unscaled, b.scale)

/** The sum keeps the first one's format, unless the first is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const scale = Math.min(a.scale, b.scale)
  const format = a.unscaled === 0n ? b.format : a.format
  return { unscaled: rescale(a.unscaled, a.scale, scale) + rescale(b.unscaled, b.scale, scale), scale, format }
}

export const subtractQuantities = (a: Quantity, b: Quantity): Quantity =>
  addQuantities(a, { unscaled: -b.unscaled, scale: b.scale, format: b.format })

export const isZeroQuantity = (quantity: Quantity): boolean => quantity.unscaled === 0n

/** -1, 0 or 1. */
export const quantitySign = (quantity: Quantity): number => (quantity.unscaled > 0n ? 1 : quantity.unscaled < 0n ? -1 : 0)

/** The value in whole units, rounded away from zero. Exact up to 2^53. */
export const quantityValue = (quantity: Quantity): number => Number(scaledValue(quantity, 0))

/** The value in thousandths, rounded away from zero. Exact up to 2^53. */
export const quantityMilliValue = (quantity: Quantity): number => Number(scaledValue(quantity, -3))

/** The value in units of 10^scale, rounded away from zero. */
export function scaledValue(quantity: Quantity, scale: number): bigint {
  return rescale(roundUpTo(quantity.unscaled, quantity.scale, scale).unscaled, Math.max(quantity.scale, scale), scale)
}

function toInteger(unscaled: bigint, scale: number): bigint | undefined {
  if (scale >= 0) return unscaled * 10n ** BigInt(scale)
  const divisor = 10n ** BigInt(-scale)
  return unscaled % divisor === 0n ? unscaled / divisor : undefined
}

/** Drops digits finer than 10^finest, rounding away from zero. */
function roundUpTo(unscaled: bigint, scale: number, finest: number): { unscaled: bigint; scale: number } {
  if (scale >= finest) return { unscaled, scale }
  const divisor = 10n ** BigInt(finest - scale)
  let quotient = unscaled / divisor
  if (unscaled % divisor !== 0n) quotient += unscaled < 0n ? -1n : 1n
  return { unscaled: quotient, scale: finest }
}

/** The same value counted in a finer or equal unit. */
const rescale = (unscaled: bigint, from: number, to: number): bigint => (from === to ? unscaled : unscaled * 10n ** BigInt(from - to))

function compareScaled(a: bigint, aScale: number, b: bigint, bScale: number): number {
  const scale = Math.min(aScale, bScale)
  const left = rescale(a, aScale, scale)
  const right = rescale(b, bScale, scale)
  return left === right ? 0 : left < right ? -1 : 1
}
