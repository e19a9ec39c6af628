/** Policies, clusters and objects for the tests of overrides. */
import { deepFreeze } from '../../base/json.ts'
import type { Cluster, ClusterOverridePolicy, OverridePolicy, Overriders, OverrideSpec } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'

const API = 'policy.karmada.io/v1alpha1'

export const aCluster = (name: string, labels: Record<string, string> = {}): Cluster =>
  deepFreeze({ apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster', metadata: { name, labels }, spec: { syncMode: 'Push' } })

/** For every cluster and every object by default. */
export const aPolicy = (name: string, overriders: Overriders, spec: Partial<OverrideSpec> = {}): OverridePolicy =>
  deepFreeze({
    apiVersion: API,
    kind: 'OverridePolicy',
    metadata: { name, namespace: 'shop' },
    spec: { overrideRules: [{ overriders }], ...spec },
  })

export const aClusterPolicy = (name: string, overriders: Overriders, spec: Partial<OverrideSpec> = {}): ClusterOverridePolicy =>
  deepFreeze({ apiVersion: API, kind: 'ClusterOverridePolicy', metadata: { name }, spec: { overrideRules: [{ overriders }], ...spec } })

export function aDeployment(container: object = {}): KubeObject {
  const containers = [{ name: 'web', image: 'registry.example/web:v1', ...container }]
  return deepFreeze({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
    spec: { replicas: 2, template: { spec: { containers, initContainers: [{ name: 'web', image: 'init:v1' }] } } },
  })
}
