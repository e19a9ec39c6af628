/**
 * A Cluster has an execution namespace, which holds the Works for it, and a NoSchedule taint while it is not Ready. Sole
 * writer of: the finalizer karmada.io/cluster-controller, the two automatic taints, the condition Terminating and the
 * namespace. Runs again when the Cluster or its namespace changes and, during deletion, when a binding leaves it. Deletion:
 * waits until no binding names the cluster, deletes the namespace, and removes the finalizer once that is gone.
 */

import type { Binding, Cluster } from '../../../kinds/karmada/index.ts'
import { clusterOfExecutionNamespace, executionNamespace } from '../../../kinds/karmada/names.ts'
import { CLUSTER_RESOURCE_BINDINGS, CLUSTERS, RESOURCE_BINDINGS } from '../../../kinds/karmada/resources.ts'
import { NAMESPACES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { defineController, indexOf, type Reader, type Watch } from '../../../runtime/controller.ts'
import { type ObservedCluster, plan } from './plan.ts'

const BY_TARGET = 'by-target'
const BINDINGS = [RESOURCE_BINDINGS, CLUSTER_RESOURCE_BINDINGS] as const

const targetsOf = (binding: Binding): string[] => (binding.spec?.clusters ?? []).map(({ name }) => name)

/** A binding matters to a cluster only while that is being deleted. */
const leaving = (binding: KubeObject, read: Reader): ObjectRef[] =>
  targetsOf(binding as Binding)
    .filter((name) => read.get(CLUSTERS, '', name)?.metadata.deletionTimestamp !== undefined)
    .map((name) => ({ namespace: '', name }))

export const cluster = defineController<ObservedCluster, Cluster>({
  name: 'fleet.membership.cluster',
  component: 'cluster-controller',
  for: CLUSTERS,
  watches: [
    {
      resource: NAMESPACES,
      keysFor({ metadata }) {
        const name = clusterOfExecutionNamespace(metadata.name ?? '')
        return name === undefined ? [] : [{ namespace: '', name }]
      },
    },
    ...BINDINGS.map((resource): Watch => ({ resource, keysFor: leaving })),
  ],
  indexes: BINDINGS.map((resource) => indexOf<Binding>(resource, BY_TARGET, targetsOf)),
  writes: [
    { resource: CLUSTERS, verbs: ['patch'] },
    { resource: CLUSTERS, subresource: 'status', verbs: ['patch'] },
    { resource: NAMESPACES, verbs: ['create', 'delete'] },
  ],
  observe({ name }, found, read) {
    const isDeleting = found?.metadata.deletionTimestamp !== undefined
    const isTargeted = isDeleting && BINDINGS.some((resource) => read.byIndex(resource, BY_TARGET, name).length > 0)
    return { cluster: found, space: read.get(NAMESPACES, '', executionNamespace(name)), isTargeted, nowMs: read.nowMs() }
  },
  plan,
})
