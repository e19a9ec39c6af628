/** The cluster that a request is for, and what the hub shows there to act for somebody else. */
import { Cluster } from '../../kinds/karmada/cluster.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { failure, notFoundError, type StatusError } from '../../kube/status.ts'
import type { Scope } from '../scope.ts'
import type { ProxyCredentials } from './member-way.ts'

export interface ProxyTarget {
  cluster: Cluster
  credentials: ProxyCredentials
}

export const unavailable = (cluster: string, why: string): StatusError =>
  failure(503, 'ServiceUnavailable', `cluster ${JSON.stringify(cluster)} cannot be reached: ${why}`, {
    name: cluster,
    group: Cluster.group,
    kind: Cluster.plural,
  })

/** Who may act for others is asked for first; the hub's own credentials are taken where there is nobody else. */
export function targetOf(scope: Scope): ProxyTarget {
  const { server, served, info } = scope
  const cluster = server.objects.get(served, '', info.name)?.object as Cluster | undefined
  if (cluster === undefined) throw notFoundError(served.groupResource, info.name)
  const spec = cluster.spec
  if (typeof spec?.apiEndpoint !== 'string' || spec.apiEndpoint === '') throw unavailable(info.name, 'spec.apiEndpoint is empty')
  const ref = spec.impersonatorSecretRef ?? spec.secretRef
  if (ref === undefined) throw unavailable(info.name, 'it names neither spec.impersonatorSecretRef nor spec.secretRef')
  const secret = secretAt(scope, ref)
  if (secret === undefined) throw unavailable(info.name, `there is no Secret ${ref.namespace}/${ref.name}`)
  const token = textOf(secret, 'token').trim()
  if (token === '') throw unavailable(info.name, `Secret ${ref.namespace}/${ref.name} has no token`)
  const own = spec.secretRef === undefined ? undefined : secretAt(scope, spec.secretRef)
  return { cluster, credentials: { token, caBundle: textOf(own, 'caBundle') || textOf(secret, 'caBundle') } }
}

function secretAt({ server }: Scope, { namespace, name }: { namespace: string; name: string }): KubeObject | undefined {
  const secrets = server.catalog.findStored('', 'secrets')
  return secrets === undefined ? undefined : server.objects.get(secrets, namespace, name)?.object
}

function textOf(secret: KubeObject | undefined, key: string): string {
  const data = (secret?.data ?? {}) as Record<string, unknown>
  const value = Object.hasOwn(data, key) ? data[key] : undefined
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : ''
}
