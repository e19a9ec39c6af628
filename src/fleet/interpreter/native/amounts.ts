/**
 * Amounts of resources as requests count them: cpu in thousandths, everything else in whole units. Nearly all of them are
 * small whole numbers and are read and printed as such; the others go the long way of exact quantities. Both ways agree.
 */
import { formatQuantity, parseQuantity, quantityOf, scaledValue } from '../../../kube/quantity.ts'

/** A number where it is exact. */
export type Amount = number | bigint

const SCALE: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
}
const DECIMAL_NAMES = ['m', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const
const BINARY_NAMES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const
const FACTOR = [1000, 100, 10, 1] as const

/** Throws where the text is no quantity. */
export function readAmount(name: string, value: unknown): Amount {
  if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`the quantity of ${name} is neither a text nor a number`)
  const isCpu = name === 'cpu'
  const plain = typeof value === 'string' ? plainAmount(value, isCpu) : isCpu ? value * 1000 : value
  if (plain !== undefined && plain >= 0 && Number.isSafeInteger(plain)) return plain
  return scaledValue(parseQuantity(value), isCpu ? -3 : 0)
}

/** Digits, for cpu with up to three behind a point, and a unit; undefined for anything else. */
function plainAmount(text: string, isCpu: boolean): number | undefined {
  let digits = 0
  let at = 0
  let code = text.charCodeAt(0)
  for (; code >= 48 && code <= 57; code = text.charCodeAt(++at)) digits = digits * 10 + code - 48
  if (at === 0 || at > 15) return undefined
  if (at === text.length) return isCpu ? digits * 1000 : digits
  if (!isCpu) return unitOf(text, at, digits)
  if (code === 46) return plainFraction(text, at + 1, digits)
  return code === 109 && at + 1 === text.length ? digits : unitOf(text, at, digits * 1000)
}

function unitOf(text: string, at: number, digits: number): number | undefined {
  if (text.length - at > 2) return undefined
  const unit = text.slice(at)
  return Object.hasOwn(SCALE, unit) ? digits * (SCALE[unit] as number) : undefined
}

function plainFraction(text: string, from: number, whole: number): number | undefined {
  const count = text.length - from
  if (count < 1 || count > 3) return undefined
  let digits = whole
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 48 || code > 57) return undefined
    digits = digits * 10 + code - 48
  }
  return digits * (FACTOR[count] as number)
}

export function addAmounts(a: Amount, b: Amount): Amount {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return BigInt(a) + BigInt(b)
}

/** The canonical text: bytes in binary units, everything else in decimal ones. */
export function printAmount(name: string, amount: Amount): string {
  const isCpu = name === 'cpu'
  const isBinary = name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-')
  if (amount === 0) return '0'
  if (typeof amount === 'bigint') return formatQuantity(quantityOf(amount, isBinary ? 'BinarySI' : 'DecimalSI', isCpu ? -3 : 0))
  return isBinary && amount >= 1024 ? shortened(amount, 1024, BINARY_NAMES, 0) : shortened(amount, 1000, DECIMAL_NAMES, isCpu ? 0 : 1)
}

function shortened(amount: number, step: number, names: readonly string[], from: number): string {
  let count = amount
  let unit = from
  while (count >= step && count % step === 0 && unit < names.length - 1) {
    count /= step
    unit++
  }
  return `${count}${names[unit]}`
}

/** The canonical text of a sum of quantities in plain form; undefined when one of them is not. The first that is not zero gives the form. */
export function plainSum(texts: readonly unknown[]): string | undefined {
  let thousandths = 0
  let isBinary = false
  for (const text of texts) {
    if (text === undefined) continue
    if (typeof text !== 'string') return undefined
    const amount = plainAmount(text, true)
    if (amount === undefined) return undefined
    if (thousandths === 0) isBinary = text.endsWith('i')
    thousandths += amount
    if (!Number.isSafeInteger(thousandths)) return undefined
  }
  const isWhole = isBinary && thousandths % 1000 === 0 && thousandths >= 1_024_000
  return isWhole
    ? shortened(thousandths / 1000, 1024, BINARY_NAMES, 0)
    : thousandths === 0
      ? '0'
      : shortened(thousandths, 1000, DECIMAL_NAMES, 0)
}

/** The canonical text of a whole number with a unit, as nearly all quantities are; undefined for anything else. */
export function plainQuantity(text: string): string | undefined {
  const first = text.charCodeAt(0)
  return first >= 49 && first <= 57 && !text.includes('.') ? plainSum([text]) : undefined
}
