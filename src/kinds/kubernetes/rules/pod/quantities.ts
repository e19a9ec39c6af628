/**
 * Amounts of resources in a pod, as decoded: maps from a resource's name to the text of a quantity. Text that is no
 * quantity cannot result from decoding; it reads as zero.
 */

import { setOwn } from '../../../../base/json.ts'
import type { Amounts } from '../../../../kube/amounts.ts'
import { formatQuantity, type Quantity, quantityOf, scaledValue, tryParseQuantity } from '../../../../kube/quantity.ts'
import { containerAmounts } from '../../pod-amounts.ts'
import { entries, type Fields } from '../fields.ts'

const ZERO = quantityOf(0)
const MILLI = -3

export const toQuantity = (amount: string): Quantity => tryParseQuantity(amount).value ?? ZERO

/** The amounts under `limits`, `requests` or `overhead`, in the order in which they were sent: errors come in that order. */
export const quantitiesAsSent = (holder: Fields | undefined, key: string): Amounts<Quantity> =>
  new Map(entries(holder, key).map(([name, amount]) => [name, toQuantity(amount)]))

export const isNegative = (quantity: Quantity): boolean => quantity.unscaled < 0n

export const isPositive = (quantity: Quantity): boolean => quantity.unscaled > 0n

/** True when the amount is not a whole number, to the thousandth that the real server looks at. */
export const hasFraction = (quantity: Quantity): boolean => scaledValue(quantity, MILLI) % 1000n !== 0n

export function roundUpToMilli(amount: string): string {
  const parsed = tryParseQuantity(amount).value
  if (parsed === undefined || parsed.scale >= MILLI) return amount
  const unscaled = scaledValue(parsed, MILLI)
  return formatQuantity({ unscaled, scale: MILLI, format: parsed.format })
}

const HUGE_PAGES = 'hugepages-'

/** The amount of huge pages must be a multiple of the page size in the resource's name. */
export function isWholeHugePages(name: string, amount: Quantity): boolean {
  const size = tryParseQuantity(name.slice(HUGE_PAGES.length)).value
  if (size === undefined || !isPositive(size) || hasFraction(size)) return false
  const bytes = scaledValue(size, 0)
  return bytes > 0n && scaledValue(amount, 0) % bytes === 0n
}

/** What the containers of a pod need together. */
export const aggregateAmounts = (spec: Fields, kind: 'requests' | 'limits'): Amounts<Quantity> =>
  containerAmounts(spec, (resources) => quantitiesAsSent(resources, kind))

/** Writes an amount into a decoded map. */
export const setAmount = (target: Fields, name: string, amount: Quantity): void => setOwn(target, name, formatQuantity(amount))
