/** What a pod asks for and may use at most: containers together, init containers at their peak, sidecars throughout. */
import type { KubeObject } from '../../../kube/meta.ts'
import { addQuantities, compareQuantities, type Quantity } from '../../../kube/quantity.ts'
import { type Fields, maybeObject, object, objects, string } from '../rules/fields.ts'
import { quantity } from '../rules/formats.ts'

export type Amounts = Map<string, Quantity>

export function amountsOf(of: unknown, key: string): Amounts {
  const list = object(of, key)
  return new Map(
    Object.keys(list)
      .sort()
      .map((name) => [name, quantity(list, name)]),
  )
}

export function addAmounts(into: Amounts, more: Amounts): void {
  for (const [name, amount] of more) {
    const known = into.get(name)
    into.set(name, known === undefined ? amount : addQuantities(known, amount))
  }
}

function raiseAmounts(into: Amounts, more: Amounts): void {
  for (const [name, amount] of more) {
    const known = into.get(name)
    if (known === undefined || compareQuantities(amount, known) > 0) into.set(name, amount)
  }
}

const ofContainer = (container: Fields, list: string): Amounts => amountsOf(object(container, 'resources'), list)

/** `list` is 'requests' or 'limits'. Amounts stated for the pod as a whole win over those of its containers. */
export function podAmounts(pod: KubeObject, list: 'requests' | 'limits'): Amounts {
  const spec = object(pod, 'spec')
  const total: Amounts = new Map()
  for (const container of objects(spec, 'containers')) addAmounts(total, ofContainer(container, list))
  const sidecars: Amounts = new Map()
  const peak: Amounts = new Map()
  for (const container of objects(spec, 'initContainers')) {
    const own = ofContainer(container, list)
    if (string(container, 'restartPolicy') === 'Always') {
      addAmounts(total, own)
      addAmounts(sidecars, own)
      raiseAmounts(peak, sidecars)
    } else {
      addAmounts(own, sidecars)
      raiseAmounts(peak, own)
    }
  }
  raiseAmounts(total, peak)
  const podLevel = maybeObject(spec, 'resources')
  for (const [name, amount] of amountsOf(podLevel, list))
    if (name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')) total.set(name, amount)
  return total
}

/** With the overhead of the pod's runtime; limits count it only where there is a limit. */
export function podAmountsWithOverhead(pod: KubeObject, list: 'requests' | 'limits'): Amounts {
  const total = podAmounts(pod, list)
  const overhead = amountsOf(object(pod, 'spec'), 'overhead')
  for (const [name, amount] of overhead) if (list === 'requests' || total.has(name)) addAmounts(total, new Map([[name, amount]]))
  return total
}
