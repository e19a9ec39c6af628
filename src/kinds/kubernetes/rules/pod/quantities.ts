/**
 * Amounts of resources in a pod, as decoded: maps from a resource's name to the text of a quantity. Text that is no
 * quantity cannot come out of decoding; it reads as zero.
 */
import { setOwn } from '../../../../base/json.ts'
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  type Quantity,
  quantityOf,
  scaledValue,
  tryParseQuantity,
} from '../../../../kube/quantity.ts'
import { entries, type Fields, objects, string } from '../fields.ts'

export type Amounts = ReadonlyMap<string, Quantity>

const ZERO = quantityOf(0)
const MILLI = -3

export const toQuantity = (amount: string): Quantity => tryParseQuantity(amount).value ?? ZERO

/** The amounts under `limits`, `requests` or `overhead`. */
export const amountsOf = (holder: Fields | undefined, key: string): Amounts =>
  new Map(entries(holder, key).map(([name, amount]) => [name, toQuantity(amount)]))

export const isNegative = (quantity: Quantity): boolean => quantity.unscaled < 0n

export const isPositive = (quantity: Quantity): boolean => quantity.unscaled > 0n

/** True when the amount is no whole number, to the thousandth that the real server looks at. */
export const hasFraction = (quantity: Quantity): boolean => scaledValue(quantity, MILLI) % 1000n !== 0n

export function roundUpToMilli(amount: string): string {
  const parsed = tryParseQuantity(amount).value
  if (parsed === undefined || parsed.scale >= MILLI) return amount
  const unscaled = scaledValue(parsed, MILLI)
  return formatQuantity({ unscaled, scale: MILLI, format: parsed.format })
}

const PREFIX = 'hugepages-'

export const isHugePages = (name: string): boolean => name.startsWith(PREFIX)

/** Huge pages come whole: the amount must be a multiple of the size in the resource's name. */
export function isWholeHugePages(name: string, amount: Quantity): boolean {
  const size = tryParseQuantity(name.slice(PREFIX.length)).value
  if (size === undefined || !isPositive(size) || hasFraction(size)) return false
  const bytes = scaledValue(size, 0)
  return bytes > 0n && scaledValue(amount, 0) % bytes === 0n
}

export const isSupportedPodLevelResource = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name)

function addInto(total: Map<string, Quantity>, more: Amounts): void {
  for (const [name, amount] of more) {
    const known = total.get(name)
    total.set(name, known === undefined ? amount : addQuantities(known, amount))
  }
}

function maxInto(total: Map<string, Quantity>, more: Amounts): void {
  for (const [name, amount] of more) {
    const known = total.get(name)
    if (known === undefined || compareQuantities(amount, known) > 0) total.set(name, amount)
  }
}

/**
 * What the containers of a pod need together: all regular containers and sidecars at once, or the most that any init
 * container needs beside the sidecars started before it.
 */
export function aggregateAmounts(spec: Fields, kind: 'requests' | 'limits'): Map<string, Quantity> {
  const total = new Map<string, Quantity>()
  for (const container of objects(spec, 'containers')) addInto(total, containerAmounts(container, kind))
  const sidecars = new Map<string, Quantity>()
  const initial = new Map<string, Quantity>()
  for (const container of objects(spec, 'initContainers')) {
    const own = containerAmounts(container, kind)
    if (string(container, 'restartPolicy') === 'Always') {
      addInto(total, own)
      addInto(sidecars, own)
      maxInto(initial, sidecars)
    } else {
      const together = new Map(own)
      addInto(together, sidecars)
      maxInto(initial, together)
    }
  }
  maxInto(total, initial)
  return total
}

const containerAmounts = (container: Fields, kind: 'requests' | 'limits'): Amounts =>
  amountsOf(container.resources as Fields | undefined, kind)

/** Writes an amount into a decoded map. */
export const setAmount = (target: Fields, name: string, amount: Quantity): void => setOwn(target, name, formatQuantity(amount))
