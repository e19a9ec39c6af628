/** A fleet as seeds start with it: every member joined, clusters that are not ready evicted, and a first Deployment divided over all. */
import { CLUSTER_NAMESPACE } from '../../../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { WorldCluster } from '../../../world/index.ts'

const REGIONS: Readonly<Record<string, string>> = { member1: 'east', member2: 'west', member3: 'north' }

export const MEMBERS: readonly string[] = Object.keys(REGIONS)

export const joinedCluster = (name: string): KubeObject => ({
  apiVersion: 'cluster.karmada.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name, labels: { tier: 'plain' } },
  spec: {
    syncMode: 'Push',
    apiEndpoint: `https://${name}.world:6443`,
    secretRef: { namespace: CLUSTER_NAMESPACE, name },
    region: REGIONS[name],
    zones: [`${REGIONS[name]}-a`],
  },
})

const credentialsOf = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: CLUSTER_NAMESPACE, name },
  data: { token: Buffer.from('token').toString('base64'), caBundle: '' },
})

const TAINT_POLICY: KubeObject = {
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'ClusterTaintPolicy',
  metadata: { name: 'leave-clusters-that-are-not-ready' },
  spec: {
    addOnConditions: [{ conditionType: 'Ready', operator: 'NotIn', statusValues: ['True'] }],
    removeOnConditions: [{ conditionType: 'Ready', operator: 'In', statusValues: ['True'] }],
    taints: [{ key: 'cluster.karmada.io/not-ready', effect: 'NoExecute' }],
  },
}

const SHOP: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'default', name: 'shop' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'shop' } },
    template: {
      metadata: { labels: { app: 'shop' } },
      spec: { containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } }] },
    },
  },
}

const NEAR: KubeObject = {
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { namespace: 'default', name: 'near' },
  spec: {
    resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop' }],
    placement: { replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Weighted' } },
  },
}

export async function joinAll(cluster: WorldCluster): Promise<void> {
  if (cluster.name !== 'hub') return
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CLUSTER_NAMESPACE } })
  for (const name of MEMBERS) for (const object of [credentialsOf(name), joinedCluster(name)]) await cluster.create(object)
  for (const object of [TAINT_POLICY, NEAR, SHOP]) await cluster.create(object)
}
