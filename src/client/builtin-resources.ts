/** The built-in resources our controllers speak about, by name. */
import type { Resource } from './resource.ts'

const core = (plural: string, kind: string, namespaced = true): Resource => ({ group: '', version: 'v1', plural, kind, namespaced })

export const NAMESPACES = core('namespaces', 'Namespace', false)
export const CONFIG_MAPS = core('configmaps', 'ConfigMap')
export const SERVICE_ACCOUNTS = core('serviceaccounts', 'ServiceAccount')
export const EVENTS = core('events', 'Event')
export const CLUSTER_ROLES: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
}
export const CUSTOM_RESOURCE_DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
}
