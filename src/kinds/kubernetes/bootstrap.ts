/**
 * The objects a fresh API server makes for itself: system namespaces, default RBAC, priority classes, the `kubernetes`
 * Service, API services. Complete but for what every create adds (uid, resourceVersion, creationTimestamp).
 */
import { isJsonObject } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import bootstrapText from './facts/bootstrap.facts'

export interface BootstrapOptions {
  /** Now, as metav1.Time: conditions carry it. */
  now: string
  /** Where the API server listens: target of the `kubernetes` Service. */
  port?: number
  /** Range of cluster IPs and the first of it, which the `kubernetes` Service takes. */
  serviceCidr?: string
  serviceIp?: string
}

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['system-cluster-critical', 'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.'],
  ['system-node-critical', 'Used for system critical pods that must not be moved from their current node.'],
])

const CONDITION_MESSAGES: ReadonlyMap<string, string> = new Map([
  ['APIService', 'Local APIServices are always available'],
  ['ServiceCIDR', 'Kubernetes Service CIDR is ready'],
])

/** Fresh, mutable objects. Aggregated ClusterRoles come without rules: a controller fills them. */
export function bootstrapObjects(options: BootstrapOptions): KubeObject[] {
  const objects = JSON.parse(bootstrapText) as KubeObject[]
  for (const object of objects) complete(object, options)
  return objects
}

function complete(object: KubeObject, options: BootstrapOptions): void {
  const description = DESCRIPTIONS.get(object.metadata.name ?? '')
  if (object.kind === 'PriorityClass' && description !== undefined) object.description = description
  if (object.kind === 'ClusterRole' && object.aggregationRule !== undefined) object.rules = null
  const spec = isJsonObject(object.spec) ? object.spec : {}
  const status = isJsonObject(object.status) ? object.status : {}
  if (object.kind === 'Service') {
    spec.clusterIP = options.serviceIp ?? '10.0.0.1'
    spec.clusterIPs = [spec.clusterIP]
    spec.ports = [{ name: 'https', protocol: 'TCP', port: 443, targetPort: options.port ?? 6443 }]
  }
  if (object.kind === 'ServiceCIDR' && options.serviceCidr !== undefined) spec.cidrs = [options.serviceCidr]
  for (const condition of Array.isArray(status.conditions) ? status.conditions : []) {
    if (!isJsonObject(condition)) continue
    condition.lastTransitionTime = options.now
    condition.message = CONDITION_MESSAGES.get(object.kind) ?? ''
  }
}
