/** More manifests as people write them: the kinds beside Deployments, and placements beyond names. */
import type { KubeObject } from '../../src/kube/meta.ts'

type Fields = Record<string, unknown>

const podOf = (name: string, pod: Fields = {}): Fields => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: 'main', image: 'nginx:1.19.0' }], ...pod },
})

export const aParallelJob = (name: string, spec: { parallelism: number; completions: number }): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { template: podOf(name, { restartPolicy: 'Never' }), ...spec },
})

export const aStatefulSet = (name: string, replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name },
  spec: { replicas, serviceName: name, selector: { matchLabels: { app: name } }, template: podOf(name) },
})

export const aDaemonSet = (name: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: podOf(name, { tolerations: [{ operator: 'Exists' }] }) },
})

export const aLoadBalancer = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
})

export const anIngress = (name: string): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name },
  spec: { defaultBackend: { service: { name, port: { number: 80 } } } },
})

export const aDisruptionBudget = (name: string, app: string): KubeObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { maxUnavailable: 1, selector: { matchLabels: { app } } },
})

/** Clusters that carry these labels. */
export const labelled = (matchLabels: Record<string, string>): Fields => ({ clusterAffinity: { labelSelector: { matchLabels } } })

/** So many clusters, or regions. */
export const spreadOver = (spreadByField: 'cluster' | 'region', minGroups: number, maxGroups: number): Fields => ({
  spreadByField,
  minGroups,
  maxGroups,
})

export const DUPLICATED = { replicaScheduling: { replicaSchedulingType: 'Duplicated' } }

/** Divided by weights that are given, or evenly. */
export const weighted = (weights?: Readonly<Record<string, number>>): Fields => ({
  replicaScheduling: {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    ...(weights === undefined
      ? {}
      : {
          weightPreference: {
            staticWeightList: Object.entries(weights).map(([name, weight]) => ({ targetCluster: { clusterNames: [name] }, weight })),
          },
        }),
  },
})

export const BY_CAPACITY = {
  replicaScheduling: {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: { dynamicWeight: 'AvailableReplicas' },
  },
}

export const AGGREGATED = { replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' } }
