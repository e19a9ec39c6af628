/** What a pod requests and its limits: containers together, init containers at their peak, sidecars throughout. */
import {
  type Amounts,
  type Arithmetic,
  addAmounts,
  CPU,
  isHugePages,
  MEMORY,
  QUANTITIES,
  type ReadonlyAmounts,
} from '../../kube/amounts.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Quantity } from '../../kube/quantity.ts'
import { type Fields, maybeObject, object, objects, string } from './rules/fields.ts'
import { quantity } from './rules/formats.ts'

/** Sorted by name. */
export function quantitiesOf(of: unknown, key: string): Amounts<Quantity> {
  const list = object(of, key)
  return new Map(
    Object.keys(list)
      .sort()
      .map((name) => [name, quantity(list, name)]),
  )
}

/** What an init container needs. Its amounts are consumed (modified). */
export interface InitAmounts<N> {
  amounts: Amounts<N>
  /** It restarts, so it keeps running beside everything that starts after it. */
  isSidecar: boolean
}

/**
 * The larger of what the containers and sidecars of a pod need together and what any step of its start needs: init
 * containers run one after another, each beside the sidecars that were started before it.
 */
export function totalOfContainers<N>(
  { add, raise }: Arithmetic<N>,
  containers: Iterable<ReadonlyAmounts<N>>,
  initContainers: Iterable<InitAmounts<N>>,
): Amounts<N> {
  const total: Amounts<N> = new Map()
  for (const amounts of containers) add(total, amounts)
  const sidecars: Amounts<N> = new Map()
  const starting: Amounts<N> = new Map()
  for (const { amounts, isSidecar } of initContainers) {
    if (isSidecar) {
      add(total, amounts)
      add(sidecars, amounts)
      raise(starting, sidecars)
    } else {
      add(amounts, sidecars)
      raise(starting, amounts)
    }
  }
  raise(total, starting)
  return total
}

/** What may be specified for a pod as a whole. */
export const isPodLevelResource = (name: string): boolean => name === CPU || name === MEMORY || isHugePages(name)

/** The containers of a pod together, read as the caller reads amounts. */
export function containerAmounts(spec: Fields, read: (resources: Fields | undefined) => Amounts<Quantity>): Amounts<Quantity> {
  return totalOfContainers(
    QUANTITIES,
    objects(spec, 'containers').map((container) => read(maybeObject(container, 'resources'))),
    objects(spec, 'initContainers').map((container) => ({
      amounts: read(maybeObject(container, 'resources')),
      isSidecar: string(container, 'restartPolicy') === 'Always',
    })),
  )
}

/** Amounts specified for the pod as a whole win over those of its containers. */
export function podAmounts(pod: KubeObject, list: 'requests' | 'limits'): Amounts<Quantity> {
  const spec = object(pod, 'spec')
  const total = containerAmounts(spec, (resources) => quantitiesOf(resources, list))
  for (const [name, amount] of quantitiesOf(maybeObject(spec, 'resources'), list)) if (isPodLevelResource(name)) total.set(name, amount)
  return total
}

/** With the overhead of the pod's runtime; limits count it only where there is a limit. */
export function podAmountsWithOverhead(pod: KubeObject, list: 'requests' | 'limits'): Amounts<Quantity> {
  const total = podAmounts(pod, list)
  const overhead = quantitiesOf(object(pod, 'spec'), 'overhead')
  for (const [name, amount] of overhead) if (list === 'requests' || total.has(name)) addAmounts(total, new Map([[name, amount]]))
  return total
}
