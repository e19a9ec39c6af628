/**
 * What queues ask of a workload: the queue and the priority class that it names, and what it demands. A queue is named by our
 * annotation, by a field of the kind itself, or by Volcano's marks on the pod template or on the object; the first of these counts.
 */
import { type Amounts, amountOf, type ReadonlyAmounts } from '../../kube/amounts.ts'
import { textAt } from '../../kube/fields.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Needs } from '../../runtime/needs.ts'
import type { WorkloadKind } from './workload.ts'

/** On a workload: the queue it waits in. */
const QUEUE_ANNOTATION = 'sluice.dev/queue'

/** Where Volcano looks, in its order. */
const VOLCANO_MARKS = [
  ['labels', 'volcano.sh/queue-name'],
  ['annotations', 'volcano.sh/queue-name'],
  ['annotations', 'scheduling.volcano.sh/queue-name'],
] as const

/** Where a kind has what queues ask for. */
interface Layout {
  podTemplates(template: KubeObject): readonly unknown[]
  /** A field of the kind itself. */
  queue?: readonly string[]
  /** A field of the kind itself, which counts before those of its pods. */
  priorityClass?: readonly string[]
}

type Queueing = Pick<WorkloadKind, 'queueOf' | 'priorityClassOf' | 'demandOf'>

export const queueing = ({ podTemplates, queue, priorityClass }: Layout): Queueing => ({
  queueOf: (template) =>
    textIn(template, ['metadata', 'annotations', QUEUE_ANNOTATION]) ??
    textIn(template, queue) ??
    firstOf([...podTemplates(template), template], markedQueue),
  priorityClassOf: (template) =>
    textIn(template, priorityClass) ?? firstOf(podTemplates(template), (pod) => textIn(pod, ['spec', 'priorityClassName'])),
  demandOf: (_template, needs) => demandOfNeeds(needs),
})

const markedQueue = (object: unknown): string | undefined => firstOf(VOLCANO_MARKS, (mark) => textIn(object, ['metadata', ...mark]))

/** An empty text says nothing. */
function textIn(object: unknown, path: readonly string[] | undefined): string | undefined {
  const text = path === undefined ? '' : textAt(object, ...path)
  return text === '' ? undefined : text
}

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** Components, where there are any, are the whole of it. Empty if the interpreter found nothing. */
export function demandOfNeeds({ replicas, replicaRequirements, components }: Needs): ReadonlyAmounts {
  const total: Amounts = new Map()
  if (components === undefined || components.length === 0) addTo(total, replicas, replicaRequirements?.resourceRequest)
  else for (const component of components) addTo(total, component.replicas, component.replicaRequirements?.resourceRequest)
  return total
}

function addTo(total: Amounts, replicas: number | undefined, request: Readonly<Record<string, string | number>> | undefined): void {
  const count = Math.max(0, replicas ?? 0)
  for (const [name, quantity] of Object.entries(request ?? {})) {
    const amount = count * amountOf(name, quantity)
    if (amount > 0) total.set(name, (total.get(name) ?? 0) + amount)
  }
}
