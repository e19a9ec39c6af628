/**
 * Amounts of resources as plain numbers, in the unit in which they are compared: thousandths for cpu, whole units
 * (rounded up) for everything else.
 */
import type { ResourceList } from '../../kinds/karmada/index.ts'
import { type Quantity, scaledValue, subtractQuantities, tryParseQuantity } from '../../kube/quantity.ts'

export type Amounts = ReadonlyMap<string, number>

const CPU = 'cpu'
export const PODS = 'pods'

const amountOf = (resource: string, quantity: Quantity): number => Number(scaledValue(quantity, resource === CPU ? -3 : 0))

/** What cannot be read counts as nothing. */
function quantityIn(list: ResourceList | undefined, resource: string): Quantity | undefined {
  if (list === undefined || !Object.hasOwn(list, resource)) return undefined
  const source = list[resource]
  return source === undefined ? undefined : tryParseQuantity(source).value
}

export function amountsOf(list: ResourceList | undefined): Map<string, number> {
  const amounts = new Map<string, number>()
  for (const resource of Object.keys(list ?? {})) {
    const amount = amountIn(list, resource)
    if (amount !== undefined) amounts.set(resource, amount)
  }
  return amounts
}

/** Workloads ask for the same few amounts again and again: those seen lately are not read anew. */
const READ = { cpu: new Map<string, number | undefined>(), others: new Map<string, number | undefined>() }
const MAX_READ = 1000

function amountIn(list: ResourceList | undefined, resource: string): number | undefined {
  const source = String(list?.[resource])
  const read = resource === CPU ? READ.cpu : READ.others
  if (read.has(source)) return read.get(source)
  const quantity = quantityIn(list, resource)
  const amount = quantity === undefined ? undefined : amountOf(resource, quantity)
  if (read.size >= MAX_READ) read.clear()
  read.set(source, amount)
  return amount
}

/** What is left of each resource of `whole` after the others; exact, and rounded only at the end. */
export function remainderOf(whole: ResourceList | undefined, ...taken: readonly (ResourceList | undefined)[]): Map<string, number> {
  const amounts = new Map<string, number>()
  for (const resource of Object.keys(whole ?? {})) {
    let left = quantityIn(whole, resource)
    if (left === undefined) continue
    for (const list of taken) {
      const quantity = quantityIn(list, resource)
      if (quantity !== undefined) left = subtractQuantities(left, quantity)
    }
    amounts.set(resource, amountOf(resource, left))
  }
  return amounts
}
