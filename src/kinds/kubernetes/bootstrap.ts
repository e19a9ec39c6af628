/**
 * The objects a fresh API server creates for itself: system namespaces, default RBAC, priority classes, the default flow
 * control, the `kubernetes` Service, API services. Complete except for what every create adds (uid, resourceVersion,
 * creationTimestamp).
 */
import { isJsonObject } from '../../base/json.ts'
import type { KubeObject, ManagedFieldsEntry, ObjectMeta } from '../../kube/meta.ts'
import bootstrapText from './facts/bootstrap.facts'

export interface BootstrapOptions {
  /** Now, as metav1.Time: conditions and owners of fields carry it. */
  now: string
  /** Where the API server listens: target of the `kubernetes` Service. */
  port?: number
  /** Range of cluster IPs and the first of it, which the `kubernetes` Service takes. */
  serviceCidr?: string
  serviceIp?: string
}

interface ObjectFact {
  apiVersion: string
  kind: string
  metadata: Omit<ObjectMeta, 'managedFields'> & { managedFields: number }
  [field: string]: unknown
}

interface BootstrapFact {
  /** Values that the objects refer to by number. */
  managedFields: ManagedFieldsEntry[][]
  objects: ObjectFact[]
}

/** Fresh, mutable objects. Aggregated ClusterRoles come without rules: a controller fills them. */
export function bootstrapObjects(options: BootstrapOptions): KubeObject[] {
  const facts = JSON.parse(bootstrapText) as BootstrapFact
  return facts.objects.map(({ metadata, ...rest }) => {
    const managedFields = (facts.managedFields[metadata.managedFields] ?? []).map((entry) => ({ ...entry, time: options.now }))
    const { apiVersion, kind, ...fields } = rest
    return fitted({ apiVersion, kind, metadata: { ...metadata, managedFields }, ...fields }, options)
  })
}

function fitted(object: KubeObject, options: BootstrapOptions): KubeObject {
  const clusterIP = options.serviceIp ?? '10.0.0.1'
  if (object.kind === 'IPAddress') object.metadata.name = clusterIP
  if (object.kind === 'Service') {
    const ports = kubernetesServicePorts(options.port ?? 6443)
    object.spec = { ports, clusterIP, clusterIPs: [clusterIP], ...(object.spec as object) }
  }
  if (object.kind === 'ServiceCIDR' && options.serviceCidr !== undefined) object.spec = { cidrs: [options.serviceCidr] }
  const status = isJsonObject(object.status) ? object.status : {}
  for (const condition of Array.isArray(status.conditions) ? status.conditions : [])
    if (isJsonObject(condition)) condition.lastTransitionTime = options.now
  return object
}

/** The one port of the `kubernetes` Service: a server that now listens elsewhere corrects it. */
export function kubernetesServicePorts(port: number): { name: string; protocol: string; port: number; targetPort: number }[] {
  return [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }]
}
