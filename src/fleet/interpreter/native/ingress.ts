/** networking.k8s.io/v1 Ingress. */

import { listAt, textAt } from '../../../kube/fields.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { DependentReference, KindRules } from '../interpreter.ts'
import { aggregateAddresses, hasAddress } from './load-balancer.ts'

export const ingressRules: KindRules = { aggregate: aggregateAddresses, dependencies: certificates, health: hasAddress }

/** The Secrets with certificates; TLS without one uses the controller's own. */
function certificates(ingress: KubeObject): DependentReference[] {
  const names = listAt(ingress, 'spec', 'tls').map((tls) => textAt(tls, 'secretName') ?? '')
  const { namespace } = ingress.metadata
  return [...new Set(names)]
    .filter((name) => name !== '')
    .sort(compareStrings)
    .map((name) => ({ apiVersion: 'v1', kind: 'Secret', ...(namespace === undefined ? {} : { namespace }), name }))
}
