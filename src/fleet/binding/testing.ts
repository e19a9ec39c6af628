/** Bindings, templates and Works for tests. */
import type { Binding, BindingSpec, TargetCluster, Work } from '../../kinds/karmada/index.ts'
import {
  BINDING_FINALIZER,
  CLUSTER_BINDING_FINALIZER,
  CLUSTER_RESOURCE_BINDING_ID,
  RESOURCE_BINDING_ID,
} from '../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { bindingName } from '../names.ts'

export const aDeployment = (name: string, replicas = 2, more: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default', labels: { app: name }, ...more },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'registry.example/web:1.0' }] } },
  },
})

export const aClusterRole = (name: string): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
})

export const targets = (...clusters: (string | [string, number])[]): TargetCluster[] =>
  clusters.map((cluster) => (typeof cluster === 'string' ? { name: cluster } : { name: cluster[0], replicas: cluster[1] }))

/** The binding that the detector and the scheduler would make of a template that is stored. */
export function aBinding(template: KubeObject, spec: Partial<BindingSpec> = {}): Binding {
  const { namespace, name = '', uid, resourceVersion } = template.metadata
  const isNamespaced = namespace !== undefined
  const resource = {
    apiVersion: template.apiVersion,
    kind: template.kind,
    ...(isNamespaced ? { namespace } : {}),
    name,
    uid,
    resourceVersion,
  }
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: isNamespaced ? 'ResourceBinding' : 'ClusterResourceBinding',
    metadata: {
      name: bindingName(template.kind, name),
      ...(isNamespaced ? { namespace } : {}),
      labels: { [isNamespaced ? RESOURCE_BINDING_ID : CLUSTER_RESOURCE_BINDING_ID]: `id-of-${name}` },
      finalizers: [isNamespaced ? BINDING_FINALIZER : CLUSTER_BINDING_FINALIZER],
    },
    spec: { resource, conflictResolution: 'Abort', ...spec },
  }
}

/** The object that a Work brings. */
export function manifestOf(work: Work | KubeObject | undefined): KubeObject {
  const [manifest] = (work as Work | undefined)?.spec.workload?.manifests ?? []
  if (manifest === undefined) throw new Error('there is no manifest')
  return manifest as KubeObject
}
