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
    const quantity = quantityIn(list, resource)
    if (quantity !== undefined) amounts.set(resource, amountOf(resource, quantity))
  }
  return amounts
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
