/**
 * AmountList of resources as whole numbers (cpu in thousandths), so that they can be added and subtracted without loss, and
 * the parts of a node and of a pod that the sums need: a cache holds these instead of whole objects.
 */

import type { ResourceList } from '../../../kinds/karmada/index.ts'
import { totalOfContainers } from '../../../kinds/kubernetes/pod-amounts.ts'
import { type Amounts, type Arithmetic, formatOfResource, scaleOfResource } from '../../../kube/amounts.ts'
import { type Fields, fieldsAt, listAt, textAt } from '../../../kube/fields.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { formatQuantity, type QuantityFormat, quantityOf, scaledValue, tryParseQuantity } from '../../../kube/quantity.ts'

/** A list rather than a map, because a cache holds one per pod. With the format it was written in, where that is kept. */
export type AmountList = readonly (readonly [name: string, amount: bigint, format?: QuantityFormat])[]

export interface NodeResources {
  isReady: boolean
  allocatable: AmountList
}

export interface PodResources {
  /** Undefined: the pod has ended, and requests nothing. */
  counts: 'allocating' | 'allocated' | undefined
  requests: AmountList
}

/** What is kept of an object: its identity, and the facts. */
const kept = ({ apiVersion, kind, metadata }: KubeObject, facts: object): KubeObject => {
  const { name, namespace, uid, resourceVersion } = metadata
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, facts }
}

export function nodeResources(node: KubeObject): NodeResources {
  const isReady = listAt(node, 'status', 'conditions').some(({ type, status }) => type === 'Ready' && status === 'True')
  return { isReady, allocatable: amountsOf(fieldsAt(node, 'status', 'allocatable')) }
}

export function podResources(pod: KubeObject): PodResources {
  const phase = textAt(pod, 'status', 'phase')
  const isOver = phase === 'Succeeded' || phase === 'Failed'
  const isBound = (textAt(pod, 'spec', 'nodeName') ?? '') !== ''
  // A pod without a node is waiting for one, whatever its phase.
  const counts = !isBound ? 'allocating' : isOver ? undefined : 'allocated'
  return { counts, requests: counts === undefined ? [] : requestsOf(fieldsAt(pod, 'spec')) }
}

export const keptOfNode = (node: KubeObject): KubeObject => kept(node, nodeResources(node))
export const keptOfPod = (pod: KubeObject): KubeObject => kept(pod, podResources(pod))

/** As Karmada counts: pod-level resources are ignored. */
function requestsOf(spec: Fields): AmountList {
  const requests = (container: Fields): Map<string, bigint> =>
    new Map(amountsOf(fieldsAt(container, 'resources', 'requests')).map(([name, amount]) => [name, amount]))
  const total = totalOfContainers(
    EXACT,
    listAt(spec, 'containers').map(requests),
    listAt(spec, 'initContainers').map((container) => ({
      amounts: requests(container),
      isSidecar: container.restartPolicy === 'Always',
    })),
  )
  for (const [name, amount] of amountsOf(fieldsAt(spec, 'overhead'))) increase(total, name, amount)
  return [...total]
}

const increase = (sum: Amounts<bigint>, name: string, by: bigint): unknown => sum.set(name, (sum.get(name) ?? 0n) + by)

/** Integers of any size, so that sums can be subtracted from without loss. */
const EXACT: Arithmetic<bigint> = {
  add: (to, more) => {
    for (const [name, amount] of more) increase(to, name, amount)
  },
  raise: (to, other) => {
    for (const [name, amount] of other) if (amount > (to.get(name) ?? 0n)) to.set(name, amount)
  },
}

function amountsOf(list: Fields): AmountList {
  return Object.entries(list).flatMap(([name, value]) => {
    if (typeof value !== 'string' && typeof value !== 'number') return []
    const quantity = tryParseQuantity(value)
    return quantity.value === undefined ? [] : [[name, scaledValue(quantity.value, scaleOfResource(name)), quantity.value.format] as const]
  })
}

/** As a ResourceList, by name; each in the given format, or in the usual one. */
export function resourceListOf(amounts: Iterable<AmountList[number]>): ResourceList {
  const sorted = [...amounts].sort(([a], [b]) => compareStrings(a, b))
  return Object.fromEntries(
    sorted.map(([name, amount, format = formatOfResource(name)]) => [
      name,
      formatQuantity(quantityOf(amount, format, scaleOfResource(name))),
    ]),
  )
}
