/**
 * Amounts of resources as plain numbers: CPU in thousandths, everything else in whole units, rounded up as Kubernetes
 * does. What a pod asks for is the larger of what its containers need together and what any step of its start needs.
 */
import type { Container, Pod } from '../../../kinds/kubernetes/types.ts'
import { quantityMilliValue, quantityValue, tryParseQuantity } from '../../../kube/quantity.ts'

export type Quantities = Record<string, string | number>

/** By name of the resource; absent is none. */
export type Amounts = Map<string, number>

export const CPU = 'cpu'
export const MEMORY = 'memory'

/** What a container that asks for nothing counts for when nodes are compared, so that such pods spread, too. */
const UNSAID: ReadonlyMap<string, number> = new Map([
  [CPU, 100],
  [MEMORY, 200 * 1024 * 1024],
])
const POD_LEVEL = /^(?:cpu|memory|hugepages-.*)$/
const PLAIN = /^([0-9]{1,12})(m|Ki|Mi|Gi)?$/
const FACTORS: Record<string, number> = { Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 }

/** Whole units of a quantity, or thousandths for CPU. What cannot be read counts as nothing. */
export function amountOf(resource: string, quantity: string | number | undefined): number {
  if (quantity === undefined) return 0
  const isCpu = resource === CPU
  const plain = PLAIN.exec(String(quantity))
  if (plain !== null) {
    const number = Number(plain[1])
    const unit = plain[2]
    if (unit === 'm') return isCpu ? number : Math.ceil(number / 1000)
    return number * (unit === undefined ? 1 : (FACTORS[unit] ?? 1)) * (isCpu ? 1000 : 1)
  }
  const parsed = tryParseQuantity(quantity)
  if (parsed.error !== undefined) return 0
  return isCpu ? quantityMilliValue(parsed.value) : quantityValue(parsed.value)
}

export function amountsOf(quantities: Quantities | undefined): Amounts {
  const amounts: Amounts = new Map()
  for (const [name, quantity] of Object.entries(quantities ?? {})) amounts.set(name, amountOf(name, quantity))
  return amounts
}

/** Adds, or with -1 takes away; what comes to nothing is dropped. */
export function addAmounts(to: Amounts, more: ReadonlyMap<string, number>, sign: 1 | -1 = 1): void {
  for (const [name, amount] of more) {
    const sum = (to.get(name) ?? 0) + sign * amount
    if (sum === 0) to.delete(name)
    else to.set(name, sum)
  }
}

function raiseTo(to: Amounts, other: ReadonlyMap<string, number>): void {
  for (const [name, amount] of other) if (amount > (to.get(name) ?? -1)) to.set(name, amount)
}

/** What a pod asks for: sidecars run beside the containers, other init containers before them, one after another. */
export function requestsOf(pod: Pod, isCounted: 'as-said' | 'for-comparison' = 'as-said'): Amounts {
  const effective = effectiveRequests(pod)
  const of = (container: Container): Amounts => {
    const amounts = effective(container)
    if (isCounted === 'for-comparison') for (const [name, unsaid] of UNSAID) if (!amounts.has(name)) amounts.set(name, unsaid)
    return amounts
  }
  const total: Amounts = new Map()
  const starting: Amounts = new Map()
  const sidecars: Amounts = new Map()
  for (const container of pod.spec?.containers ?? []) addAmounts(total, of(container))
  for (const container of pod.spec?.initContainers ?? []) {
    const needs = of(container)
    if (container.restartPolicy === 'Always') {
      addAmounts(total, needs)
      addAmounts(sidecars, needs)
      raiseTo(starting, sidecars)
    } else {
      addAmounts(needs, sidecars)
      raiseTo(starting, needs)
    }
  }
  raiseTo(total, starting)
  for (const [name, amount] of amountsOf(pod.spec?.resources?.requests)) if (POD_LEVEL.test(name)) total.set(name, amount)
  addAmounts(total, amountsOf(pod.spec?.overhead))
  return total
}

/** While a resize is under way, a container holds the largest of what it asks for, was promised and uses. */
function effectiveRequests(pod: Pod): (container: Container) => Amounts {
  const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
  const isInfeasible = pod.status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') === true
  return (container) => {
    const said = amountsOf(container.resources?.requests)
    const status = statuses.find(({ name }) => name === container.name)
    if (status?.resources === undefined) return said
    const held = isInfeasible ? new Map<string, number>() : said
    raiseTo(held, amountsOf(status.resources.requests))
    raiseTo(held, amountsOf(status.allocatedResources))
    return held
  }
}
