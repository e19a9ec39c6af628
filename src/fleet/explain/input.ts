/**
 * Everything about one template in the fleet, read from a hub in a handful of requests. Those who may read the template may
 * not be allowed to read everything else: what is missing for that reason is named.
 */

import type { Client } from '../../client/client.ts'
import { ApiError, ifFound } from '../../client/errors.ts'
import type { Binding, Cluster, Policy, Work } from '../../kinds/karmada/index.ts'
import { bindingName } from '../../kinds/karmada/names.ts'
import {
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTER_RESOURCE_BINDINGS,
  CLUSTERS,
  PROPAGATION_POLICIES,
  RESOURCE_BINDINGS,
  WORKS,
} from '../../kinds/karmada/resources.ts'
import { CLUSTER_RESOURCE_BINDING_ID, RESOURCE_BINDING_ID } from '../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'

export interface Subject {
  resource: Resource
  /** Empty for cluster-scoped objects. */
  namespace: string
  name: string
}

export interface ExplainInput {
  subject: Subject
  template: KubeObject | undefined
  /** Policies whose scope could include it: those of its namespace, and cluster policies. */
  policies: readonly Policy[]
  binding: Binding | undefined
  clusters: readonly Cluster[]
  works: readonly Work[]
  /** What whoever asks may not read; it is empty above. */
  unreadable?: readonly Part[]
}

export type Part = 'policies' | 'binding' | 'clusters' | 'works'

export async function readExplainInput(client: Client, subject: Subject): Promise<ExplainInput> {
  const { resource, namespace, name } = subject
  const template = await ifFound(client.get(resource, { namespace, name }))
  const bindings = (resource.namespaced ? RESOURCE_BINDINGS : CLUSTER_RESOURCE_BINDINGS) as Resource<Binding>
  const unreadable = new Set<Part>()
  const permitted = async <T>(part: Part, answer: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 403) throw error
      unreadable.add(part)
      return otherwise
    }
  }
  const [binding, clusters, own, ofCluster] = await Promise.all([
    permitted('binding', ifFound(client.get<Binding>(bindings, { namespace, name: bindingName(resource.kind, name) })), undefined),
    permitted('clusters', all<Cluster>(client, CLUSTERS), []),
    resource.namespaced ? permitted('policies', all<Policy>(client, PROPAGATION_POLICIES, { namespace }), []) : [],
    permitted('policies', all<Policy>(client, CLUSTER_PROPAGATION_POLICIES), []),
  ])
  const label = resource.namespaced ? RESOURCE_BINDING_ID : CLUSTER_RESOURCE_BINDING_ID
  const id = binding?.metadata.labels?.[label]
  const works = id === undefined ? [] : await permitted('works', all<Work>(client, WORKS, { labelSelector: `${label}=${id}` }), [])
  return { subject, template, policies: [...own, ...ofCluster], binding, clusters, works, unreadable: [...unreadable] }
}

async function all<T extends KubeObject>(
  client: Client,
  resource: Resource,
  options: { namespace?: string; labelSelector?: string } = {},
): Promise<T[]> {
  return (await client.list(resource, options)).items as T[]
}
