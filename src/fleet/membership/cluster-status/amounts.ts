/**
 * Amounts of resources as whole numbers (cpu in thousandths), so that they can be added and taken away again without loss,
 * and what of a node and of a pod is worth keeping for the sums: a cache holds these instead of whole objects.
 */
import type { ResourceList } from '../../../kinds/karmada/index.ts'
import { type Fields, fieldsAt, listAt, textAt } from '../../../kube/fields.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { formatQuantity, type QuantityFormat, quantityOf, scaledValue, tryParseQuantity } from '../../../kube/quantity.ts'

/** With how it was written, where that is kept. */
export type Amounts = readonly (readonly [name: string, amount: bigint, format?: QuantityFormat])[]

export interface NodeFacts {
  isReady: boolean
  allocatable: Amounts
}

export interface PodFacts {
  /** Undefined: it is over, and asks for nothing. */
  counts: 'allocating' | 'allocated' | undefined
  requests: Amounts
}

/** What is kept of an object: enough to know it again, and the facts. */
const kept = ({ apiVersion, kind, metadata }: KubeObject, facts: object): KubeObject => {
  const { name, namespace, uid, resourceVersion } = metadata
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, facts }
}

export function nodeFacts(node: KubeObject): NodeFacts {
  const isReady = listAt(node, 'status', 'conditions').some(({ type, status }) => type === 'Ready' && status === 'True')
  return { isReady, allocatable: amountsOf(fieldsAt(node, 'status', 'allocatable')) }
}

export function podFacts(pod: KubeObject): PodFacts {
  const phase = textAt(pod, 'status', 'phase')
  const isOver = phase === 'Succeeded' || phase === 'Failed'
  const isBound = (textAt(pod, 'spec', 'nodeName') ?? '') !== ''
  // What has no node yet waits for one, whatever it says of itself.
  const counts = !isBound ? 'allocating' : isOver ? undefined : 'allocated'
  return { counts, requests: counts === undefined ? [] : requestsOf(fieldsAt(pod, 'spec')) }
}

export const keptOfNode = (node: KubeObject): KubeObject => kept(node, nodeFacts(node))
export const keptOfPod = (pod: KubeObject): KubeObject => kept(pod, podFacts(pod))

/** As schedulers count: containers and sidecars beside each other, init containers one after another, and the overhead. */
function requestsOf(spec: Fields): Amounts {
  const running = new Map<string, bigint>()
  const starting = new Map<string, bigint>()
  for (const container of listAt(spec, 'initContainers')) {
    const own = amountsOf(fieldsAt(container, 'resources', 'requests'))
    if (container.restartPolicy === 'Always') for (const [name, amount] of own) increase(running, name, amount)
    for (const [name, amount] of container.restartPolicy === 'Always' ? running : sumOf(running, own)) raise(starting, name, amount)
  }
  for (const container of listAt(spec, 'containers'))
    for (const [name, amount] of amountsOf(fieldsAt(container, 'resources', 'requests'))) increase(running, name, amount)
  for (const [name, amount] of starting) raise(running, name, amount)
  for (const [name, amount] of amountsOf(fieldsAt(spec, 'overhead'))) increase(running, name, amount)
  return [...running]
}

function sumOf(before: ReadonlyMap<string, bigint>, own: Amounts): Map<string, bigint> {
  const sum = new Map(before)
  for (const [name, amount] of own) increase(sum, name, amount)
  return sum
}

const increase = (sum: Map<string, bigint>, name: string, by: bigint): unknown => sum.set(name, (sum.get(name) ?? 0n) + by)

function raise(most: Map<string, bigint>, name: string, to: bigint): void {
  if (to > (most.get(name) ?? 0n)) most.set(name, to)
}

function amountsOf(list: Fields): Amounts {
  return Object.entries(list).flatMap(([name, value]) => {
    if (typeof value !== 'string' && typeof value !== 'number') return []
    const quantity = tryParseQuantity(value)
    return quantity.value === undefined ? [] : [[name, scaledValue(quantity.value, scaleOf(name)), quantity.value.format] as const]
  })
}

const scaleOf = (name: string): number => (name === 'cpu' ? -3 : 0)

const formatOf = (name: string): QuantityFormat =>
  name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-') ? 'BinarySI' : 'DecimalSI'

/** As resources are written, by name; each in the given form, or in the one that is usual for it. */
export function resourceListOf(amounts: Iterable<Amounts[number]>): ResourceList {
  const sorted = [...amounts].sort(([a], [b]) => compareStrings(a, b))
  return Object.fromEntries(
    sorted.map(([name, amount, format = formatOf(name)]) => [name, formatQuantity(quantityOf(amount, format, scaleOf(name)))]),
  )
}
