/** v1 Service. Only a load balancer has a status worth reporting. */

import { fieldsAt, numberAt, textAt, withField } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { KindRules } from '../interpreter.ts'
import { aggregateAddresses, hasAddress } from './load-balancer.ts'
import { wholeStatus } from './status.ts'

export const serviceRules: KindRules = {
  retain: retainAllocated,
  aggregate: (template, items) => (isLoadBalancer(template) ? aggregateAddresses(template, items) : template),
  reflect: (service) => {
    const status = isLoadBalancer(service) ? wholeStatus(service) : undefined
    return status === undefined ? undefined : { loadBalancer: fieldsAt(status, 'loadBalancer') }
  },
  health: (service) => !isLoadBalancer(service) || hasAddress(service),
}

const isLoadBalancer = (service: KubeObject): boolean => textAt(service, 'spec', 'type') === 'LoadBalancer'

/** What the member's server allocated is immutable. */
function retainAllocated(desired: KubeObject, observed: KubeObject): KubeObject {
  const port = numberAt(observed, 'spec', 'healthCheckNodePort') ?? 0
  const address = textAt(observed, 'spec', 'clusterIP') ?? ''
  const withPort = port > 0 ? withField(desired, ['spec', 'healthCheckNodePort'], port) : desired
  return address === '' ? withPort : withField(withPort, ['spec', 'clusterIP'], address)
}
