/** The objects that the gate is measured with. Claims and sources are in the form that volcano-global built, which both sides read. */
import type { Client } from '../src/client/client.ts'
import { PROPAGATION_POLICIES } from '../src/kinds/karmada/resources.ts'
import { NAMESPACES } from '../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../src/kube/meta.ts'
import type { Resource } from '../src/kube/resource.ts'

const API_VERSION = 'datadependency.volcano.sh/v1alpha1'

/** The claim of one workload on one logical name. */
export const claimOn = (data: string, workload: string, namespace: string): KubeObject =>
  ({
    apiVersion: API_VERSION,
    kind: 'DataSourceClaim',
    metadata: { name: `needs-${workload}`, namespace },
    spec: {
      system: 'hive',
      dataSourceType: 'table',
      dataSourceName: data,
      workload: { apiVersion: 'apps/v1', kind: 'Deployment', name: workload },
    },
  }) as KubeObject

/** A source of this logical name, in one cluster. */
export const sourceOf = (data: string, cluster: string): KubeObject =>
  ({
    apiVersion: API_VERSION,
    kind: 'DataSource',
    metadata: { name: `hive-${data}` },
    spec: { system: 'hive', type: 'table', name: data, locality: { clusterNames: [cluster] } },
  }) as KubeObject

/** Paused: propagation is measured, not pods. */
export function deploymentOf(name: string, namespace: string): KubeObject {
  const labels = { app: name }
  const container = { name: 'main', image: 'nginx', resources: { requests: { cpu: '10m', memory: '16Mi' } } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas: 2,
      paused: true,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  } as KubeObject
}

/** A namespace in which a policy sends every Deployment to one cluster, whether or not claims send it there as well. */
export async function makeNamespace(hub: Client, namespace: string, cluster: string): Promise<void> {
  await hub.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await hub.create(PROPAGATION_POLICIES, {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name: 'all', namespace },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }],
      placement: { clusterAffinity: { clusterNames: [cluster] } },
    },
  } as KubeObject)
}

const LANES = 16

/** Creates `count` objects, several at a time. */
export async function createMany(hub: Client, resource: Resource, count: number, make: (i: number) => KubeObject): Promise<void> {
  await inLanes(count, (i) => hub.create(resource, make(i)))
}

/** Something `count` times, several at a time. */
export async function inLanes(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) await work(i)
  }
  await Promise.all(Array.from({ length: Math.min(LANES, count) }, lane))
}
