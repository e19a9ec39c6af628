/** What is left of the amounts that clusters report. */
import type { ResourceList } from '../../kinds/karmada/index.ts'
import { type Amounts, scaleOfResource } from '../../kube/amounts.ts'
import { type Quantity, scaledValue, subtractQuantities, tryParseQuantity } from '../../kube/quantity.ts'

export const PODS = 'pods'

const amountOf = (resource: string, quantity: Quantity): number => Number(scaledValue(quantity, scaleOfResource(resource)))

/** A quantity that cannot be parsed counts as absent. */
function quantityIn(list: ResourceList | undefined, resource: string): Quantity | undefined {
  if (list === undefined || !Object.hasOwn(list, resource)) return undefined
  const source = list[resource]
  return source === undefined ? undefined : tryParseQuantity(source).value
}

/** What is left of each resource of `whole` after subtracting the others; exact, and rounded only at the end. */
export function remainderOf(whole: ResourceList | undefined, ...taken: readonly (ResourceList | undefined)[]): Amounts {
  const amounts: Amounts = new Map()
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
