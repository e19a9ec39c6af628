/**
 * How far a binding reaches: to objects of its own namespace, and to those that have none. Whoever may write bindings in
 * one namespace would otherwise send objects of any other to clusters, credentials of clusters among them.
 */
import type { KubeObject } from '../../kube/meta.ts'
import type { Binding } from './index.ts'
import { CLUSTER_NAMESPACE, EXECUTION_NAMESPACE_PREFIX, SYSTEM_NAMESPACE } from './well-known.ts'

/** Namespaces in which the hub keeps what is about clusters. Nothing in them is ever propagated, whoever asks. */
export const isReserved = (namespace: string): boolean =>
  namespace === SYSTEM_NAMESPACE || namespace === CLUSTER_NAMESPACE || namespace.startsWith(EXECUTION_NAMESPACE_PREFIX)

/** Why a binding must not propagate what it names; undefined: it may. */
export function overreachOf({ metadata, spec }: Pick<Binding, 'metadata' | 'spec'>): string | undefined {
  const { namespace = '' } = metadata
  const meant = spec?.resource?.namespace ?? ''
  if (isReserved(meant) || isReserved(namespace)) return 'objects in the namespaces of the fleet itself are never propagated'
  if (meant === '' || meant === namespace) return undefined
  return namespace === ''
    ? 'a ClusterResourceBinding is for objects without a namespace'
    : `must be the namespace of the binding, ${namespace}, or empty for an object without one`
}

/** What events are recorded on besides the binding: what it refers to, if that is within its reach. */
export function referredBy(binding: Binding): KubeObject[] {
  const { apiVersion, kind, namespace, name, uid } = binding.spec.resource
  return overreachOf(binding) === undefined ? [{ apiVersion, kind, metadata: { namespace, name, uid } }] : []
}
