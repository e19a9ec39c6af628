/** What a Service is, derived from its fields: shared by defaults, validation and allocation. */
import { deepEqual } from '../../../../base/json.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { type Fields, maybeBoolean, maybeString, number, object, objects, string, strings } from '../fields.ts'

export const spec = (service: KubeObject): Fields => object(service, 'spec')
export const serviceType = (service: KubeObject): string => string(spec(service), 'type')
export const clusterIp = (service: KubeObject): string => string(spec(service), 'clusterIP')
export const clusterIps = (service: KubeObject): readonly string[] => strings(spec(service), 'clusterIPs')
export const ipFamilies = (service: KubeObject): readonly string[] => strings(spec(service), 'ipFamilies')
export const ipFamilyPolicy = (service: KubeObject): string | undefined => maybeString(spec(service), 'ipFamilyPolicy')
export const ports = (service: KubeObject): readonly Fields[] => objects(spec(service), 'ports')
export const healthCheckNodePort = (service: KubeObject): number => number(spec(service), 'healthCheckNodePort')

export const isExternalName = (service: KubeObject): boolean => serviceType(service) === 'ExternalName'
export const isLoadBalancer = (service: KubeObject): boolean => serviceType(service) === 'LoadBalancer'

/** By its list of addresses, as validation sees it. */
export const isHeadless = (service: KubeObject): boolean => clusterIps(service).length === 1 && clusterIps(service)[0] === 'None'

export const isExternallyAccessible = (service: KubeObject): boolean => {
  const type = serviceType(service)
  if (type === 'LoadBalancer' || type === 'NodePort') return true
  return type === 'ClusterIP' && strings(spec(service), 'externalIPs').length > 0
}

export const needsHealthCheck = (service: KubeObject): boolean =>
  isLoadBalancer(service) && string(spec(service), 'externalTrafficPolicy') === 'Local'

/** For types that have node ports, whether these are allocated or not. */
export const hasNodePorts = (service: KubeObject): boolean => serviceType(service) === 'NodePort' || isLoadBalancer(service)

export const allocatesNodePorts = (service: KubeObject): boolean =>
  serviceType(service) === 'NodePort' || (isLoadBalancer(service) && maybeBoolean(spec(service), 'allocateLoadBalancerNodePorts') !== false)

export const nodePorts = (service: KubeObject): number[] =>
  ports(service)
    .map((port) => number(port, 'nodePort'))
    .filter((port) => port !== 0)

export const sameClusterIps = (a: KubeObject, b: KubeObject): boolean => deepEqual(clusterIps(a), clusterIps(b))
export const sameIpFamilies = (a: KubeObject, b: KubeObject): boolean => deepEqual(ipFamilies(a), ipFamilies(b))
