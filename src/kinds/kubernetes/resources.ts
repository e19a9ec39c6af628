/** The built-in resources our controllers use, by name, each with the type of its objects. */

import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type * as kinds from './types.ts'

const NAMESPACED = true

function builtin<T extends KubeObject = KubeObject>(
  apiVersion: string,
  plural: string,
  kind: string,
  namespaced = NAMESPACED,
): Resource<T> {
  const slash = apiVersion.indexOf('/')
  return { group: apiVersion.slice(0, Math.max(0, slash)), version: apiVersion.slice(slash + 1), plural, kind, namespaced }
}

/** Any served resource: for access rules of controllers that clean up after others. */
export const EVERY_RESOURCE = builtin('*/*', '*', '*')
export const CONFIG_MAPS = builtin<kinds.ConfigMap>('v1', 'configmaps', 'ConfigMap')
export const ENDPOINTS = builtin<kinds.Endpoints>('v1', 'endpoints', 'Endpoints')
export const EVENTS = builtin<kinds.Event>('v1', 'events', 'Event')
export const NAMESPACES = builtin<kinds.Namespace>('v1', 'namespaces', 'Namespace', !NAMESPACED)
export const NODES = builtin<kinds.Node>('v1', 'nodes', 'Node', !NAMESPACED)
export const PERSISTENT_VOLUMES = builtin<kinds.PersistentVolume>('v1', 'persistentvolumes', 'PersistentVolume', !NAMESPACED)
export const PERSISTENT_VOLUME_CLAIMS = builtin<kinds.PersistentVolumeClaim>('v1', 'persistentvolumeclaims', 'PersistentVolumeClaim')
export const PODS = builtin<kinds.Pod>('v1', 'pods', 'Pod')
export const RESOURCE_QUOTAS = builtin<kinds.ResourceQuota>('v1', 'resourcequotas', 'ResourceQuota')
export const SECRETS = builtin<kinds.Secret>('v1', 'secrets', 'Secret')
export const SERVICE_ACCOUNTS = builtin<kinds.ServiceAccount>('v1', 'serviceaccounts', 'ServiceAccount')
export const SERVICES = builtin<kinds.Service>('v1', 'services', 'Service')
export const CONTROLLER_REVISIONS = builtin<kinds.ControllerRevision>('apps/v1', 'controllerrevisions', 'ControllerRevision')
export const DAEMON_SETS = builtin<kinds.DaemonSet>('apps/v1', 'daemonsets', 'DaemonSet')
export const DEPLOYMENTS = builtin<kinds.Deployment>('apps/v1', 'deployments', 'Deployment')
export const REPLICA_SETS = builtin<kinds.ReplicaSet>('apps/v1', 'replicasets', 'ReplicaSet')
export const STATEFUL_SETS = builtin<kinds.StatefulSet>('apps/v1', 'statefulsets', 'StatefulSet')
export const CRON_JOBS = builtin<kinds.CronJob>('batch/v1', 'cronjobs', 'CronJob')
export const JOBS = builtin<kinds.Job>('batch/v1', 'jobs', 'Job')
export const LEASES = builtin<kinds.Lease>('coordination.k8s.io/v1', 'leases', 'Lease')
export const ENDPOINT_SLICES = builtin<kinds.EndpointSlice>('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice')
export const POD_DISRUPTION_BUDGETS = builtin<kinds.PodDisruptionBudget>('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget')
export const CLUSTER_ROLES = builtin<kinds.ClusterRole>('rbac.authorization.k8s.io/v1', 'clusterroles', 'ClusterRole', !NAMESPACED)
export const CLUSTER_ROLE_BINDINGS = builtin('rbac.authorization.k8s.io/v1', 'clusterrolebindings', 'ClusterRoleBinding', !NAMESPACED)
export const PRIORITY_CLASSES = builtin<kinds.PriorityClass>('scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass', !NAMESPACED)
export const CSI_DRIVERS = builtin('storage.k8s.io/v1', 'csidrivers', 'CSIDriver', !NAMESPACED)
export const CSI_NODES = builtin('storage.k8s.io/v1', 'csinodes', 'CSINode', !NAMESPACED)
export const STORAGE_CLASSES = builtin<kinds.StorageClass>('storage.k8s.io/v1', 'storageclasses', 'StorageClass', !NAMESPACED)
export const CUSTOM_RESOURCE_DEFINITIONS = builtin(
  'apiextensions.k8s.io/v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
  !NAMESPACED,
)
