/** What a pod requests of a node, as the scheduler counts it. */
import { isPodLevelResource, totalOfContainers } from '../../../kinds/kubernetes/pod-amounts.ts'
import type { Container, Pod } from '../../../kinds/kubernetes/types.ts'
import { type Amounts, type Arithmetic, amountsOf, CPU, MEMORY } from '../../../kube/amounts.ts'

/** What a container without requests counts for when nodes are compared, so that such pods spread too. */
const UNSAID: ReadonlyMap<string, number> = new Map([
  [CPU, 100],
  [MEMORY, 200 * 1024 * 1024],
])

/** Adds, or with -1 subtracts; zeros are dropped. */
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

/** Unlike admission (`podAmounts`), includes what a resize in progress holds, and drops zeros. */
const NUMBERS: Arithmetic<number> = { add: addAmounts, raise: raiseTo }

export function requestsOf(pod: Pod, isCounted: 'as-said' | 'for-comparison' = 'as-said'): Amounts {
  const effective = effectiveRequests(pod)
  const of = (container: Container): Amounts => {
    const amounts = effective(container)
    if (isCounted === 'for-comparison') for (const [name, unsaid] of UNSAID) if (!amounts.has(name)) amounts.set(name, unsaid)
    return amounts
  }
  const total = totalOfContainers(
    NUMBERS,
    (pod.spec?.containers ?? []).map(of),
    (pod.spec?.initContainers ?? []).map((container) => ({ amounts: of(container), isSidecar: container.restartPolicy === 'Always' })),
  )
  for (const [name, amount] of amountsOf(pod.spec?.resources?.requests)) if (isPodLevelResource(name)) total.set(name, amount)
  addAmounts(total, amountsOf(pod.spec?.overhead))
  return total
}

/** While a resize is in progress, a container holds the largest of what it requests, was allocated and uses. */
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
