/**
 * Amounts of resources by name, as schedulers count them: cpu in thousandths, everything else in whole units, rounded up.
 * Nearly all of them are small whole numbers and are read and printed as such; the others take the slow path through exact
 * quantities. Both paths agree.
 */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  type QuantityFormat,
  quantityOf,
  scaledValue,
  tryParseQuantity,
} from './quantity.ts'

/** By resource name; absent is zero. Numbers where amounts are compared often, `Quantity` where they are printed again. */
export type Amounts<N = number> = Map<string, N>
export type ReadonlyAmounts<N = number> = ReadonlyMap<string, N>

/** How amounts of pods are added up and compared; see `totalOfContainers`. */
export interface Arithmetic<N> {
  add(to: Amounts<N>, more: ReadonlyAmounts<N>): void
  /** Raises each amount to the other's, where that is larger. */
  raise(to: Amounts<N>, other: ReadonlyAmounts<N>): void
}

/** A number where it is exact. */
export type Amount = number | bigint

export const CPU = 'cpu'
export const MEMORY = 'memory'

export const isHugePages = (resource: string): boolean => resource.startsWith('hugepages-')

const isBinary = (resource: string): boolean => resource === MEMORY || resource === 'ephemeral-storage' || isHugePages(resource)

/** The power of ten that a resource is counted in. */
export const scaleOfResource = (resource: string): number => (resource === CPU ? -3 : 0)

/** How amounts of a resource are usually written. */
export const formatOfResource = (resource: string): QuantityFormat => (isBinary(resource) ? 'BinarySI' : 'DecimalSI')

export function addAmounts(to: Amounts<Quantity>, more: ReadonlyAmounts<Quantity>): void {
  for (const [name, amount] of more) {
    const known = to.get(name)
    to.set(name, known === undefined ? amount : addQuantities(known, amount))
  }
}

function raiseAmounts(to: Amounts<Quantity>, other: ReadonlyAmounts<Quantity>): void {
  for (const [name, amount] of other) {
    const known = to.get(name)
    if (known === undefined || compareQuantities(amount, known) > 0) to.set(name, amount)
  }
}

export const QUANTITIES: Arithmetic<Quantity> = { add: addAmounts, raise: raiseAmounts }

/** What cannot be parsed counts as zero. */
export function amountOf(resource: string, quantity: string | number | undefined): number {
  if (quantity === undefined) return 0
  const plain = plainAmountOf(resource, quantity)
  if (plain !== undefined) return plain
  const parsed = tryParseQuantity(quantity).value
  return parsed === undefined ? 0 : Number(scaledValue(parsed, scaleOfResource(resource)))
}

export function amountsOf(list: Readonly<Record<string, string | number>> | undefined): Amounts {
  const amounts: Amounts = new Map()
  for (const [name, quantity] of Object.entries(list ?? {})) amounts.set(name, amountOf(name, quantity))
  return amounts
}

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

/** Throws if the text is not a quantity. */
export function readAmount(name: string, value: unknown): Amount {
  if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`the quantity of ${name} is neither a text nor a number`)
  return plainAmountOf(name, value) ?? scaledValue(parseQuantity(value), scaleOfResource(name))
}

/** Undefined where the fast path cannot give an exact result. */
function plainAmountOf(resource: string, value: string | number): number | undefined {
  const isCpu = resource === CPU
  const plain = typeof value === 'string' ? plainAmount(value, isCpu) : isCpu ? value * 1000 : value
  return plain !== undefined && plain >= 0 && Number.isSafeInteger(plain) ? plain : undefined
}

/** Digits (for cpu with up to three decimals) and a unit; undefined for anything else. */
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

/** Exact. */
export function addAmount(a: Amount, b: Amount): Amount {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return BigInt(a) + BigInt(b)
}

/** The canonical text: bytes in binary units, everything else in decimal ones. */
export function printAmount(name: string, amount: Amount): string {
  if (amount === 0) return '0'
  if (typeof amount === 'bigint') return formatQuantity(quantityOf(amount, formatOfResource(name), scaleOfResource(name)))
  if (isBinary(name) && amount >= 1024) return shortened(amount, 1024, BINARY_NAMES, 0)
  return shortened(amount, 1000, DECIMAL_NAMES, name === CPU ? 0 : 1)
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

/** The canonical text of a sum of quantities in plain form; undefined when one of them is not. The first non-zero one gives the format. */
export function plainSum(texts: readonly unknown[]): string | undefined {
  let thousandths = 0
  let isInBinary = false
  for (const text of texts) {
    if (text === undefined) continue
    if (typeof text !== 'string') return undefined
    const amount = plainAmount(text, true)
    if (amount === undefined) return undefined
    if (thousandths === 0) isInBinary = text.endsWith('i')
    thousandths += amount
    if (!Number.isSafeInteger(thousandths)) return undefined
  }
  const isWhole = isInBinary && thousandths % 1000 === 0 && thousandths >= 1_024_000
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
