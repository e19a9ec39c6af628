/** Manifests as users write them, small and valid; later fields win. */

import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'

type Fields = Record<string, unknown>

export interface DeploymentOptions {
  replicas?: number
  image?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  /** Merged over the spec of its pods. */
  pod?: Fields
}

export function aDeployment(
  name: string,
  { replicas = 2, image = 'nginx:1.19.0', pod = {}, ...metadata }: DeploymentOptions = {},
): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, ...metadata },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image }], ...pod } },
    },
  }
}

/** What a policy selects: by name, or by what is given. */
export const deploymentsNamed = (name: string): Fields => ({ apiVersion: 'apps/v1', kind: 'Deployment', name })

export const selectorOf = ({ apiVersion, kind, metadata: { name } }: KubeObject): Fields => ({ apiVersion, kind, name })

/** A placement on clusters by name. */
export const on = (...places: readonly { name: string }[]): Fields => ({
  clusterAffinity: { clusterNames: places.map(({ name }) => name) },
})

export const aPropagationPolicy = (
  name: string,
  resourceSelectors: readonly unknown[],
  placement: Fields,
  more: Fields = {},
): KubeObject => ({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name },
  spec: { resourceSelectors, placement, ...more },
})

export const aClusterPropagationPolicy = (
  name: string,
  resourceSelectors: readonly unknown[],
  placement: Fields,
  more: Fields = {},
): KubeObject => ({ ...aPropagationPolicy(name, resourceSelectors, placement, more), kind: 'ClusterPropagationPolicy' })

const of = (apiVersion: string, kind: string, name: string, fields: Fields): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name },
  ...fields,
})

export const aConfigMap = (name: string, data: Record<string, string> = { key: 'value' }): KubeObject =>
  of('v1', 'ConfigMap', name, { data })

export const aSecret = (name: string, stringData: Record<string, string> = { key: 'value' }): KubeObject =>
  of('v1', 'Secret', name, { stringData })

export const aServiceAccount = (name: string): KubeObject => of('v1', 'ServiceAccount', name, {})

export const aClaim = (name: string): KubeObject =>
  of('v1', 'PersistentVolumeClaim', name, { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } })

export const aService = (name: string): KubeObject =>
  of('v1', 'Service', name, { spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] } })

export const aPod = (name: string): KubeObject => of('v1', 'Pod', name, { spec: { containers: [{ name: 'main', image: 'nginx:1.19.0' }] } })

export const aJob = (name: string): KubeObject =>
  of('batch/v1', 'Job', name, {
    spec: { backoffLimit: 4, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'perl:5.34.0' }] } } },
  })

const RBAC = 'rbac.authorization.k8s.io/v1'
const READS_PODS = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }]
const SOMEBODY = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'somebody' }]
const roleRef = (kind: string, name: string): Fields => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })

export const aRole = (name: string): KubeObject => of(RBAC, 'Role', name, { rules: READS_PODS })
export const aRoleBinding = (name: string): KubeObject =>
  of(RBAC, 'RoleBinding', name, { subjects: SOMEBODY, roleRef: roleRef('Role', name) })
export const aClusterRole = (name: string): KubeObject => of(RBAC, 'ClusterRole', name, { rules: READS_PODS })
export const aClusterRoleBinding = (name: string): KubeObject =>
  of(RBAC, 'ClusterRoleBinding', name, { subjects: SOMEBODY, roleRef: roleRef('ClusterRole', name) })

/** A kind of the story's own, in a group of its own. */
export function aDefinition(group: string, kind = 'Gadget'): KubeObject {
  const singular = kind.toLowerCase()
  return of('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `${singular}s.${group}`, {
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: `${singular}s`, singular, kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          subresources: { status: {} },
        },
      ],
    },
  })
}

export const gadgetsOf = (group: string): Resource => ({ group, version: 'v1', plural: 'gadgets', kind: 'Gadget', namespaced: true })
export const aGadget = (group: string, name: string, size = 1): KubeObject => of(`${group}/v1`, 'Gadget', name, { spec: { size } })

export interface OverrideOptions {
  /** What it selects; if absent, everything in its scope. */
  selectors?: readonly unknown[]
  rules: readonly unknown[]
}

export const anOverridePolicy = (name: string, { selectors, rules }: OverrideOptions): KubeObject =>
  of('policy.karmada.io/v1alpha1', 'OverridePolicy', name, {
    spec: { ...(selectors === undefined ? {} : { resourceSelectors: selectors }), overrideRules: rules },
  })

export const aClusterOverridePolicy = (name: string, options: OverrideOptions): KubeObject => ({
  ...anOverridePolicy(name, options),
  kind: 'ClusterOverridePolicy',
})
