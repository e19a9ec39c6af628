/**
 * Service: defaults and strategy. Addresses and node ports are given by the allocator (service-allocator.ts) before
 * these rules run.
 */
import { deepEqual } from '../../../../base/json.ts'
import { index } from '../../../../kube/field-error.ts'
import { cidrWarnings, ipWarnings } from '../../../../kube/ip.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { nameIsDnsLabel } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import {
  annotation,
  defaultString,
  defaultValue,
  ensureObject,
  type Fields,
  field,
  number,
  object,
  objects,
  restore,
  string,
  strings,
  writableObjects,
} from '../fields.ts'
import {
  clusterIp,
  clusterIps,
  hasNodePorts,
  ipFamilyPolicy,
  isExternallyAccessible,
  isExternalName,
  isLoadBalancer,
  needsHealthCheck,
  nodePorts,
  sameClusterIps,
  sameIpFamilies,
  serviceType,
  spec,
} from './service-shape.ts'
import { loadBalancerStatusErrors, serviceErrors, serviceUpdateErrors } from './service-validation.ts'

const AFFINITY_SECONDS = 10_800

function applyDefaults(service: KubeObject): void {
  const spec = ensureObject(service, 'spec')
  defaultString(spec, 'sessionAffinity', 'None')
  const affinity = string(spec, 'sessionAffinity')
  if (affinity === 'None') delete spec.sessionAffinityConfig
  if (affinity === 'ClientIP' && field(object(object(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds') === undefined)
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } }
  defaultString(spec, 'type', 'ClusterIP')
  for (const port of writableObjects(spec, 'ports')) {
    defaultString(port, 'protocol', 'TCP')
    const target = field(port, 'targetPort')
    if (target === undefined || target === 0 || target === '') port.targetPort = number(port, 'port')
  }
  if (isExternallyAccessible(service)) defaultString(spec, 'externalTrafficPolicy', 'Cluster')
  if (['NodePort', 'LoadBalancer', 'ClusterIP'].includes(string(spec, 'type'))) defaultValue(spec, 'internalTrafficPolicy', 'Cluster')
  if (!isLoadBalancer(service)) return
  defaultValue(spec, 'allocateLoadBalancerNodePorts', true)
  for (const ingress of writableObjects(object(object(service, 'status'), 'loadBalancer'), 'ingress'))
    if (string(ingress, 'ip') !== '') defaultValue(ingress, 'ipMode', 'VIP')
}

/** Fields of the old type are removed with it, unless the update also changed them (then validation reports it). */
function dropTypeDependentFields(service: KubeObject, old: KubeObject): void {
  const target = ensureObject(service, 'spec')
  const unchanged = (key: string): boolean => deepEqual(field(target, key), field(spec(old), key))
  if (!isExternalName(old) && isExternalName(service)) {
    if (clusterIp(old) === clusterIp(service) && sameClusterIps(old, service)) drop(target, 'clusterIP', 'clusterIPs')
    if (sameIpFamilies(old, service)) drop(target, 'ipFamilies')
    if (ipFamilyPolicy(old) === ipFamilyPolicy(service)) drop(target, 'ipFamilyPolicy')
  }
  if (hasNodePorts(old) && !hasNodePorts(service) && nodePorts(service).every((port) => nodePorts(old).includes(port)))
    for (const port of writableObjects(target, 'ports')) drop(port, 'nodePort')
  if (needsHealthCheck(old) && !needsHealthCheck(service) && unchanged('healthCheckNodePort')) drop(target, 'healthCheckNodePort')
  if (isLoadBalancer(old) && !isLoadBalancer(service)) {
    if (unchanged('allocateLoadBalancerNodePorts')) drop(target, 'allocateLoadBalancerNodePorts')
    if (unchanged('loadBalancerClass')) drop(target, 'loadBalancerClass')
  }
  if (isExternallyAccessible(old) && !isExternallyAccessible(service) && unchanged('externalTrafficPolicy'))
    drop(target, 'externalTrafficPolicy')
  if (!isLoadBalancer(service)) service.status = { ...object(service, 'status'), loadBalancer: {} }
}

/** The policy has no meaning for ExternalName; the real server hides it whenever it reads such a Service. */
function hideInternalPolicy(service: KubeObject): void {
  const target = ensureObject(service, 'spec')
  if (isExternalName(service) && ['Cluster', 'Local'].includes(string(target, 'internalTrafficPolicy')))
    drop(target, 'internalTrafficPolicy')
}

const drop = (from: Fields, ...keys: string[]): void => {
  for (const key of keys) delete from[key]
}

function warnings(service: KubeObject): string[] {
  const headless = serviceType(service) === 'ClusterIP' && clusterIp(service) === 'None'
  const externalIps = strings(spec(service), 'externalIPs')
  const balancerIp = string(spec(service), 'loadBalancerIP')
  const out: string[] = []
  if (annotation(service, 'service.kubernetes.io/topology-aware-hints') !== undefined)
    out.push('annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead')
  if (clusterIp(service) !== '' && clusterIp(service) !== 'None')
    out.push(...clusterIps(service).flatMap((ip, i) => ipWarnings(index('spec.clusterIPs', i), ip)))
  if (headless && balancerIp !== '') out.push('spec.loadBalancerIP is ignored for headless services')
  if (headless && externalIps.length > 0) out.push('spec.externalIPs is ignored for headless services')
  if (headless && string(spec(service), 'sessionAffinity') !== 'None') out.push('spec.SessionAffinity is ignored for headless services')
  out.push(...externalIps.flatMap((ip, i) => ipWarnings(index('spec.externalIPs', i), ip)))
  if (externalIps.length > 0 && !headless && !isExternalName(service))
    out.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters')
  if (balancerIp !== '') out.push(...ipWarnings('spec.loadBalancerIP', balancerIp))
  out.push(
    ...strings(spec(service), 'loadBalancerSourceRanges').flatMap((cidr, i) =>
      cidrWarnings(index('spec.loadBalancerSourceRanges', i), cidr),
    ),
  )
  if (isExternalName(service) && externalIps.length > 0) out.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  if (!isExternalName(service) && string(spec(service), 'externalName') !== '')
    out.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  if (string(spec(service), 'trafficDistribution') === 'PreferClose')
    out.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  return out
}

const statusWarnings = (service: KubeObject): string[] =>
  objects(object(object(service, 'status'), 'loadBalancer'), 'ingress').flatMap((ingress, i) =>
    string(ingress, 'ip') === '' ? [] : ipWarnings(index('status.loadBalancer.ingress', i), string(ingress, 'ip')),
  )

export const serviceRules: KindRules = {
  applyDefaults,
  prepareForCreate(service) {
    service.status = { loadBalancer: {} }
    hideInternalPolicy(service)
  },
  prepareForUpdate(service, old, { subresource }) {
    if (subresource === 'status') return restore(service, old, 'spec')
    restore(service, old, 'status')
    dropTypeDependentFields(service, old)
    hideInternalPolicy(service)
  },
  validateCreate: (service) => serviceErrors(service),
  validateUpdate: (service, old, { subresource }) =>
    subresource === 'status' ? loadBalancerStatusErrors(service, old) : serviceUpdateErrors(service, old),
  warnings: (service, _old, { subresource }) => (subresource === 'status' ? statusWarnings(service) : warnings(service)),
  validateName: nameIsDnsLabel,
  allowCreateOnUpdate: true,
  selectableFieldNames: ['spec.clusterIP', 'spec.type'],
  selectableFields: (service) => ({ 'spec.clusterIP': clusterIp(service), 'spec.type': serviceType(service) }),
}
