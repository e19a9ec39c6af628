/** The quality of service a pod asks for, by its requests and limits of cpu and memory. */
import { addQuantities, compareQuantities, type Quantity } from '../../../../kube/quantity.ts'
import { type Fields, maybeObject, objects } from '../fields.ts'
import { isPositive, quantitiesAsSent } from './quantities.ts'

type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

export function podQosClass(spec: Fields): QosClass {
  const podLevel = maybeObject(spec, 'resources')
  const holders =
    podLevel === undefined
      ? [...objects(spec, 'containers'), ...objects(spec, 'initContainers')].map((c) => maybeObject(c, 'resources'))
      : [podLevel]
  const requests = new Map<string, Quantity>()
  const limits = new Map<string, Quantity>()
  let isGuaranteed = true
  for (const resources of holders) {
    addCompute(requests, resources, 'requests')
    const limited = addCompute(limits, resources, 'limits')
    const needsBoth = podLevel === undefined || quantitiesAsSent(resources, 'limits').size > 0
    if (needsBoth && limited < 2) isGuaranteed = false
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  for (const [name, amount] of requests) {
    const limit = limits.get(name)
    if (limit === undefined || compareQuantities(limit, amount) !== 0) isGuaranteed = false
  }
  return isGuaranteed && requests.size === limits.size ? 'Guaranteed' : 'Burstable'
}

/** Adds the positive amounts of cpu and memory, and returns how many of the two were present. */
function addCompute(total: Map<string, Quantity>, resources: Fields | undefined, key: string): number {
  let count = 0
  for (const [name, amount] of quantitiesAsSent(resources, key)) {
    if ((name !== 'cpu' && name !== 'memory') || !isPositive(amount)) continue
    count++
    const known = total.get(name)
    total.set(name, known === undefined ? amount : addQuantities(known, amount))
  }
  return count
}
