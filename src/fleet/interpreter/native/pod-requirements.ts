/**
 * What one replica needs of a cluster: the resources of its pod, and what the nodes must be like. Native rules and the Lua
 * function `kube.accuratePodRequirements` share this.
 */
import type { ReplicaRequirements } from '../../../kinds/karmada/index.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { checkQualifiedName } from '../../../kube/names.ts'
import { formatQuantity, parseQuantity, type QuantityFormat, quantityOf, scaledValue } from '../../../kube/quantity.ts'
import { type Fields, fieldAt, fieldsAt, listAt, textAt } from '../../fields.ts'

export interface RequirementOptions {
  /** Tells the priority class, which estimates by quota need. Default true. */
  priorityClassName?: boolean
}

/** Undefined when the template asks for nothing. Throws where a quantity is none. */
export function podRequirements(template: unknown, options: RequirementOptions = {}): ReplicaRequirements | undefined {
  const pod = fieldsAt(template, 'spec')
  const nodeClaim = nodeClaimOf(pod)
  const resourceRequest = requestsOf(pod)
  if (nodeClaim === undefined && resourceRequest === undefined) return undefined
  const priorityClassName = options.priorityClassName === false ? undefined : textAt(pod, 'priorityClassName')
  return {
    ...(nodeClaim === undefined ? {} : { nodeClaim }),
    ...(resourceRequest === undefined ? {} : { resourceRequest }),
    ...(priorityClassName === undefined || priorityClassName === '' ? {} : { priorityClassName }),
  }
}

function nodeClaimOf(pod: Fields): ReplicaRequirements['nodeClaim'] {
  const hardNodeAffinity = fieldAt(pod, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution')
  const nodeSelector = fieldsAt(pod, 'nodeSelector')
  const tolerations = listAt(pod, 'tolerations')
  const claim = {
    ...(hardNodeAffinity === undefined || hardNodeAffinity === null ? {} : { hardNodeAffinity }),
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
  }
  return Object.keys(claim).length === 0 ? undefined : (claim as ReplicaRequirements['nodeClaim'])
}

/** Containers run beside each other and add up; init containers run one after another before them, so the largest counts. */
function requestsOf(pod: Fields): Record<string, string> | undefined {
  const total = new Map<string, bigint>()
  for (const container of listAt(pod, 'containers')) {
    for (const [name, amount] of containerRequests(container)) total.set(name, (total.get(name) ?? 0n) + amount)
  }
  for (const container of listAt(pod, 'initContainers')) {
    for (const [name, amount] of containerRequests(container)) if (amount > (total.get(name) ?? 0n)) total.set(name, amount)
  }
  for (const [name, amount] of amountsOf(fieldsAt(pod, 'overhead'))) total.set(name, (total.get(name) ?? 0n) + amount)
  return printed(total)
}

/** A limit without a request is the request, as the API server defaults it in a pod (but not in a template). */
const containerRequests = (container: Fields): [string, bigint][] =>
  amountsOf({ ...fieldsAt(container, 'resources', 'limits'), ...fieldsAt(container, 'resources', 'requests') })

function amountsOf(list: Fields): [string, bigint][] {
  const amounts: [string, bigint][] = []
  for (const [name, value] of Object.entries(list)) {
    if (!isCounted(name) || value === undefined || value === null) continue
    amounts.push([name, scaledValue(parseQuantity(quantityText(name, value)), name === 'cpu' ? -3 : 0)])
  }
  return amounts
}

function quantityText(name: string, value: unknown): string | number {
  if (typeof value === 'string' || typeof value === 'number') return value
  throw new Error(`the quantity of ${name} is neither a text nor a number`)
}

function printed(total: ReadonlyMap<string, bigint>): Record<string, string> | undefined {
  const positive = [...total].filter(([, amount]) => amount > 0n).sort(([a], [b]) => compareStrings(a, b))
  if (positive.length === 0) return undefined
  return Object.fromEntries(
    positive.map(([name, amount]) => [name, formatQuantity(quantityOf(amount, formatOf(name), name === 'cpu' ? -3 : 0))]),
  )
}

const formatOf = (name: string): QuantityFormat =>
  name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-') ? 'BinarySI' : 'DecimalSI'

const NATIVE = new Set(['cpu', 'memory', 'ephemeral-storage', 'pods'])

/** Whether schedulers count this resource; a name they do not know does not hold a replica back. */
function isCounted(name: string): boolean {
  if (NATIVE.has(name) || name.startsWith('hugepages-') || name.startsWith('attachable-volumes-')) return true
  if (name.includes('kubernetes.io/')) return true
  return name.includes('/') && !name.startsWith('requests.') && checkQualifiedName(`requests.${name}`).length === 0
}
