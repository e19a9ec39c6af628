/** The cluster that a request is for, and the credentials that the hub uses there to impersonate the caller. */

import type { MemberCredentials } from '../../client/members.ts'
import { Cluster } from '../../kinds/karmada/cluster.ts'
import { secretText } from '../../kinds/kubernetes/secret-data.ts'
import type { SubresourceCall } from '../../kinds/subresource.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { failure, notFoundError, type StatusError } from '../../kube/status.ts'

export interface ProxyTarget {
  cluster: Cluster
  credentials: MemberCredentials
}

export const unavailable = (cluster: string, why: string): StatusError =>
  failure(503, 'ServiceUnavailable', `cluster ${JSON.stringify(cluster)} cannot be reached: ${why}`, {
    name: cluster,
    group: Cluster.group,
    kind: Cluster.plural,
  })

/** Prefers the impersonator's credentials; without one, uses the hub's own. */
export function targetOf(call: SubresourceCall): ProxyTarget {
  const { info } = call
  const cluster = call.read({ group: Cluster.group, resource: Cluster.plural }, '', info.name) as Cluster | undefined
  if (cluster === undefined) throw notFoundError(call.resource, info.name)
  const spec = cluster.spec
  if (typeof spec?.apiEndpoint !== 'string' || spec.apiEndpoint === '') throw unavailable(info.name, 'spec.apiEndpoint is empty')
  const ref = spec.impersonatorSecretRef ?? spec.secretRef
  if (ref === undefined) throw unavailable(info.name, 'it names neither spec.impersonatorSecretRef nor spec.secretRef')
  const secret = secretAt(call, ref)
  if (secret === undefined) throw unavailable(info.name, `there is no Secret ${ref.namespace}/${ref.name}`)
  const token = secretText(secret, 'token').trim()
  if (token === '') throw unavailable(info.name, `Secret ${ref.namespace}/${ref.name} has no token`)
  const own = spec.secretRef === undefined ? undefined : secretAt(call, spec.secretRef)
  return { cluster, credentials: { token, caBundle: secretText(own, 'caBundle') || secretText(secret, 'caBundle') } }
}

const secretAt = ({ read }: SubresourceCall, { namespace, name }: { namespace: string; name: string }): KubeObject | undefined =>
  read({ group: '', resource: 'secrets' }, namespace, name)
