/** Validation of Services, on creation and on update, with the order and the messages of the real server. */
import {
  child,
  duplicate,
  type FieldError,
  forbidden,
  index,
  internalError,
  invalid,
  keyed,
  required,
} from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { annotation, type Fields, field, maybeObject, maybeString, number, object, objects, string, strings } from '../fields.ts'
import {
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelErrors,
  portNumberErrors,
  portNumberOrNameErrors,
  qualifiedNameErrors,
} from '../formats.ts'
import { endpointIpErrors, ipFamilyOf, legacyCidrErrors, legacyIpErrors } from '../ip.ts'
import { unsupported } from '../pod/errors.ts'
import {
  clusterIp,
  clusterIps,
  healthCheckNodePort,
  ipFamilies,
  ipFamilyPolicy,
  isExternallyAccessible,
  isExternalName,
  isHeadless,
  isLoadBalancer,
  needsHealthCheck,
  ports,
  serviceType,
  spec,
} from './service-shape.ts'

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
export const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints'
const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode'
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const LOAD_BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'"
const FROZEN = 'may not change once set'

export function serviceErrors(service: KubeObject, old?: KubeObject): FieldError[] {
  return [
    ...topologyErrors(service),
    ...typeShapeErrors(service),
    ...portErrors(service),
    ...labelErrors('spec.selector', spec(service), 'selector'),
    ...affinityErrors(service),
    ...clusterIpErrors(service, old),
    ...externalIpErrors(service, old),
    ...typeErrors(service),
    ...nodePortErrors(service),
    ...duplicatePortErrors(service),
    ...sourceRangeErrors(service, old),
    ...loadBalancerErrors(service),
    ...trafficErrors(service),
  ]
}

function topologyErrors(service: KubeObject): FieldError[] {
  const hints = annotation(service, TOPOLOGY_HINTS)
  const mode = annotation(service, TOPOLOGY_MODE)
  if (hints === undefined || mode === undefined || hints === mode) return []
  return [invalid(keyed('metadata.annotations', TOPOLOGY_MODE), mode, `must match annotations[${TOPOLOGY_HINTS}] when both are specified`)]
}

function typeShapeErrors(service: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  if (ports(service).length === 0 && !isHeadless(service) && !isExternalName(service)) errors.push(required('spec.ports'))
  const type = serviceType(service)
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(service))
    errors.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`))
  if (type !== 'ExternalName') return errors
  const not = 'may not be set for ExternalName services'
  if (clusterIps(service).length > 0) errors.push(forbidden('spec.clusterIPs', not))
  if (ipFamilies(service).length > 0) errors.push(forbidden('spec.ipFamilies', not))
  if (ipFamilyPolicy(service) !== undefined) errors.push(forbidden('spec.ipFamilyPolicy', not))
  const name = string(spec(service), 'externalName').replace(/\.$/, '')
  return [...errors, ...(name === '' ? [required('spec.externalName')] : dnsSubdomainErrors('spec.externalName', name))]
}

function portErrors(service: KubeObject): FieldError[] {
  const names = new Set<string>()
  const all = ports(service)
  return all.flatMap((port, i) => {
    const path = index('spec.ports', i)
    const name = string(port, 'name')
    const errors: FieldError[] = []
    if (name === '') {
      if (all.length > 1) errors.push(required(child(path, 'name')))
    } else {
      errors.push(...dnsLabelErrors(child(path, 'name'), name))
      if (names.has(name)) errors.push(duplicate(child(path, 'name'), name))
      names.add(name)
    }
    errors.push(...portNumberErrors(child(path, 'port'), number(port, 'port')))
    errors.push(...protocolErrors(child(path, 'protocol'), port))
    errors.push(...portNumberOrNameErrors(child(path, 'targetPort'), field(port, 'targetPort')))
    const application = maybeString(port, 'appProtocol')
    return application === undefined ? errors : [...errors, ...qualifiedNameErrors(child(path, 'appProtocol'), application)]
  })
}

export function protocolErrors(path: string, port: Fields): FieldError[] {
  const protocol = string(port, 'protocol')
  if (protocol === '') return [required(path)]
  return PROTOCOLS.includes(protocol) ? [] : [unsupported(path, protocol, PROTOCOLS)]
}

function affinityErrors(service: KubeObject): FieldError[] {
  const affinity = string(spec(service), 'sessionAffinity')
  if (affinity === '') return [required('spec.sessionAffinity')]
  const errors = ['ClientIP', 'None'].includes(affinity) ? [] : [unsupported('spec.sessionAffinity', affinity, ['ClientIP', 'None'])]
  const config = maybeObject(spec(service), 'sessionAffinityConfig')
  const path = 'spec.sessionAffinityConfig'
  if (affinity === 'None' && config !== undefined) errors.push(forbidden(path, 'must not be set when session affinity is None'))
  if (affinity !== 'ClientIP') return errors
  const because = 'when session affinity type is ClientIP'
  const client = maybeObject(config, 'clientIP')
  if (config === undefined) return [...errors, required(path, because)]
  if (client === undefined) return [...errors, required(child(path, 'clientIP'), because)]
  if (field(client, 'timeoutSeconds') === undefined) return [...errors, required(child(path, 'clientIP', 'timeoutSeconds'), because)]
  const seconds = number(client, 'timeoutSeconds')
  if (seconds <= 0 || seconds > 86400)
    errors.push(invalid(child(path, 'clientIP', 'timeoutSeconds'), seconds, 'must be greater than 0 and less than 86400'))
  return errors
}

/** Addresses, families and the family policy agree with each other. Allocation checks this before anything else. */
export function clusterIpErrors(service: KubeObject, old?: KubeObject): FieldError[] {
  if (isExternalName(service)) return []
  const path = 'spec.clusterIPs'
  const ips = clusterIps(service)
  const first = clusterIp(service)
  const errors: FieldError[] = []
  if (first !== '' && ips.length === 0) errors.push(required(path))
  else if (first !== '' && ips[0] !== first) errors.push(invalid(path, ips, 'first value must match `clusterIP`'))
  else if (first === '' && ips.length > 0) errors.push(invalid(path, ips, 'must be empty when `clusterIP` is not specified'))
  errors.push(...familyErrors(service))
  const addressErrors = ips.flatMap((ip, i) => {
    if (i > 0 || ip !== 'None') return legacyIpErrors(index(path, i), ip, old === undefined ? [] : clusterIps(old))
    return ips.length > 1 ? [invalid(path, ips, "'None' must be the first and only value")] : []
  })
  errors.push(...addressErrors)
  if (ips.length > 2) errors.push(invalid(path, ips, 'may only hold up to 2 values'))
  if (addressErrors.length > 0) return errors
  return [...errors, ...dualStackErrors(service)]
}

function familyErrors(service: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const families = ipFamilies(service)
  for (const [i, family] of families.entries()) {
    const path = index('spec.ipFamilies', i)
    if (family !== 'IPv4' && family !== 'IPv6') errors.push(unsupported(path, family, ['IPv4', 'IPv6']))
    if (families.indexOf(family) < i) errors.push(duplicate(path, family))
  }
  const policy = ipFamilyPolicy(service)
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
  if (policy !== undefined && !policies.includes(policy)) errors.push(unsupported('spec.ipFamilyPolicy', policy, policies))
  return errors
}

function dualStackErrors(service: KubeObject): FieldError[] {
  const ips = clusterIps(service)
  const families = ipFamilies(service)
  const errors: FieldError[] = []
  if (ips.length > 1) {
    const bad = ips.find((ip) => ipFamilyOf(ip) === undefined)
    if (bad !== undefined)
      errors.push(internalError('spec.clusterIPs', `failed to check for dual stack with error:invalid IP[${ips.indexOf(bad)}]: ${bad}`))
    if (new Set(ips.map(ipFamilyOf)).size < 2)
      errors.push(invalid('spec.clusterIPs', ips, 'may specify no more than one IP for each IP family'))
  }
  if (isHeadless(service)) return errors
  for (const [i, ip] of ips.entries()) {
    const family = families[i]
    if ((family === 'IPv4' || family === 'IPv6') && (ipFamilyOf(ip) === 'IPv6') !== (family === 'IPv6'))
      errors.push(invalid(index('spec.clusterIPs', i), ip, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``))
  }
  return errors
}

function externalIpErrors(service: KubeObject, old: KubeObject | undefined): FieldError[] {
  const before = old === undefined ? [] : strings(spec(old), 'externalIPs')
  return strings(spec(service), 'externalIPs').flatMap((ip, i) => {
    const path = index('spec.externalIPs', i)
    const errors = legacyIpErrors(path, ip, before)
    return errors.length > 0 ? errors : endpointIpErrors(path, ip)
  })
}

function typeErrors(service: KubeObject): FieldError[] {
  const type = serviceType(service)
  if (type === '') return [required('spec.type')]
  return TYPES.includes(type) ? [] : [unsupported('spec.type', type, TYPES)]
}

function nodePortErrors(service: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const all = ports(service)
  if (serviceType(service) === 'ClusterIP')
    for (const [i, port] of all.entries())
      if (number(port, 'nodePort') !== 0)
        errors.push(forbidden(child(index('spec.ports', i), 'nodePort'), "may not be used when `type` is 'ClusterIP'"))
  const seen = new Set<string>()
  for (const [i, port] of all.entries()) {
    const nodePort = number(port, 'nodePort')
    if (nodePort === 0) continue
    const key = `${string(port, 'protocol')} ${nodePort}`
    if (seen.has(key)) errors.push(duplicate(child(index('spec.ports', i), 'nodePort'), nodePort))
    seen.add(key)
  }
  return errors
}

function duplicatePortErrors(service: KubeObject): FieldError[] {
  const seen = new Set<string>()
  return ports(service).flatMap((port, i) => {
    const protocol = string(port, 'protocol')
    const key = `${protocol} ${number(port, 'port')}`
    const known = seen.has(key)
    seen.add(key)
    const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: number(port, 'port'), TargetPort: 0, NodePort: 0 }
    return known ? [duplicate(index('spec.ports', i), shown)] : []
  })
}

function sourceRangeErrors(service: KubeObject, old: KubeObject | undefined): FieldError[] {
  const ranges = strings(spec(service), 'loadBalancerSourceRanges')
  if (ranges.length > 0) {
    const path = 'spec.LoadBalancerSourceRanges'
    const before = old === undefined ? [] : strings(spec(old), 'loadBalancerSourceRanges').map((range) => range.trim())
    const errors = isLoadBalancer(service) ? [] : [forbidden(path, LOAD_BALANCER_ONLY)]
    return [...errors, ...ranges.flatMap((range, i) => legacyCidrErrors(index(path, i), range.trim(), before))]
  }
  const value = annotation(service, SOURCE_RANGES)
  if (value === undefined) return []
  const path = keyed('metadata.annotations', SOURCE_RANGES)
  const errors = isLoadBalancer(service) ? [] : [forbidden(path, LOAD_BALANCER_ONLY)]
  if ((old !== undefined && annotation(old, SOURCE_RANGES) === value) || value.trim() === '') return errors
  return [...errors, ...value.split(',').flatMap((range) => legacyCidrErrors(path, range.trim()))]
}

function loadBalancerErrors(service: KubeObject): FieldError[] {
  const set = field(spec(service), 'allocateLoadBalancerNodePorts') !== undefined
  const errors: FieldError[] = []
  if (set && !isLoadBalancer(service)) errors.push(forbidden('spec.allocateLoadBalancerNodePorts', LOAD_BALANCER_ONLY))
  if (!set && isLoadBalancer(service)) errors.push(required('allocateLoadBalancerNodePorts'))
  return [...errors, ...loadBalancerClassErrors(service)]
}

function loadBalancerClassErrors(service: KubeObject, old?: KubeObject): FieldError[] {
  const path = 'spec.loadBalancerClass'
  const name = maybeString(spec(service), 'loadBalancerClass')
  const errors: FieldError[] = []
  if (old !== undefined && isLoadBalancer(old) && isLoadBalancer(service) && maybeString(spec(old), 'loadBalancerClass') !== name)
    errors.push(invalid(path, name ?? null, FROZEN))
  if (name === undefined) return errors
  return [...errors, ...(isLoadBalancer(service) ? qualifiedNameErrors(path, name) : [forbidden(path, LOAD_BALANCER_ONLY)])]
}

function trafficErrors(service: KubeObject): FieldError[] {
  const external = string(spec(service), 'externalTrafficPolicy')
  const errors: FieldError[] = []
  if (!isExternallyAccessible(service)) {
    if (external !== '') errors.push(invalid('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services'))
  } else if (external === '') errors.push(required('spec.externalTrafficPolicy'))
  else if (!['Cluster', 'Local'].includes(external)) errors.push(unsupported('spec.externalTrafficPolicy', external, ['Cluster', 'Local']))
  const health = healthCheckNodePort(service)
  if (!needsHealthCheck(service)) {
    if (health !== 0)
      errors.push(
        invalid('spec.healthCheckNodePort', health, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"),
      )
  } else errors.push(...(health === 0 ? [required('spec.healthCheckNodePort')] : portNumberErrors('spec.healthCheckNodePort', health)))
  return [...errors, ...internalTrafficErrors(service)]
}

function internalTrafficErrors(service: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const internal = maybeString(spec(service), 'internalTrafficPolicy')
  if (internal === undefined) {
    if (['NodePort', 'LoadBalancer', 'ClusterIP'].includes(serviceType(service))) errors.push(required('spec.internalTrafficPolicy'))
  } else if (!['Cluster', 'Local'].includes(internal))
    errors.push(unsupported('spec.internalTrafficPolicy', internal, ['Cluster', 'Local']))
  const distribution = maybeString(spec(service), 'trafficDistribution')
  const known = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
  if (distribution !== undefined && !known.includes(distribution)) errors.push(unsupported('spec.trafficDistribution', distribution, known))
  return errors
}

export function serviceUpdateErrors(service: KubeObject, old: KubeObject): FieldError[] {
  const errors = [...clusterIpChangeErrors(service, old), ...familyChangeErrors(service, old), ...loadBalancerClassErrors(service, old)]
  if (needsHealthCheck(old) && needsHealthCheck(service) && healthCheckNodePort(old) !== healthCheckNodePort(service))
    errors.push(forbidden('spec.healthCheckNodePort', 'field is immutable'))
  return [...errors, ...serviceErrors(service, old)]
}

function clusterIpChangeErrors(service: KubeObject, old: KubeObject): FieldError[] {
  if (isExternalName(service) || isExternalName(old) || (isHeadless(service) && isHeadless(old))) return []
  const [before, after] = [clusterIps(old), clusterIps(service)]
  const first = 'spec.clusterIPs[0]'
  if (before.length === after.length)
    return before.flatMap((ip, i) => (ip === after[i] ? [] : [invalid(index('spec.clusterIPs', i), after, FROZEN)]))
  const errors: FieldError[] = []
  if (after.length === 0) errors.push(invalid(first, after, 'primary clusterIP can not be unset'))
  else if (before.length > 0 && before[0] !== after[0]) errors.push(invalid(first, after, FROZEN))
  if (before.length > after.length && after.length === 1 && ipFamilyPolicy(service) !== 'SingleStack')
    errors.push(
      invalid(
        'spec.ipFamilyPolicy',
        ipFamilyPolicy(service) ?? null,
        "must be set to 'SingleStack' when releasing the secondary clusterIP",
      ),
    )
  return errors
}

function familyChangeErrors(service: KubeObject, old: KubeObject): FieldError[] {
  if (isExternalName(service) || isExternalName(old) || isHeadless(service) || isHeadless(old)) return []
  const [before, after] = [ipFamilies(old), ipFamilies(service)]
  const first = 'spec.ipFamilies[0]'
  if (before.length === after.length) return before.flatMap((family, i) => (family === after[i] ? [] : [invalid(first, after, FROZEN)]))
  const errors: FieldError[] = []
  if (before.length > after.length && clusterIps(service).length === 0)
    errors.push(invalid(first, after, 'primary ipFamily can not be unset'))
  if (before.length > 0 && after.length > 0 && before[0] !== after[0]) errors.push(invalid(first, clusterIps(service), FROZEN))
  if (before.length > after.length && after.length === 1 && ipFamilyPolicy(service) !== 'SingleStack')
    errors.push(
      invalid('spec.ipFamilyPolicy', ipFamilyPolicy(service) ?? null, "must be set to 'SingleStack' when releasing the secondary ipFamily"),
    )
  return errors
}

export function loadBalancerStatusErrors(service: KubeObject, old: KubeObject): FieldError[] {
  const path = 'status.loadBalancer.ingress'
  const ingresses = objects(object(object(service, 'status'), 'loadBalancer'), 'ingress')
  if (!isLoadBalancer(service)) return ingresses.length > 0 ? [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")] : []
  const before = objects(object(object(old, 'status'), 'loadBalancer'), 'ingress').map((ingress) => string(ingress, 'ip'))
  return ingresses.flatMap((ingress, i) => ingressErrors(index(path, i), ingress, before))
}

function ingressErrors(path: string, ingress: Fields, before: readonly string[]): FieldError[] {
  const ip = string(ingress, 'ip')
  const mode = maybeString(ingress, 'ipMode')
  const host = string(ingress, 'hostname')
  const errors = ip === '' ? [] : legacyIpErrors(child(path, 'ip'), ip, before)
  if (mode === undefined && ip !== '') errors.push(required(child(path, 'ipMode'), 'must be specified when `ip` is set'))
  else if (mode !== undefined && ip === '') errors.push(forbidden(child(path, 'ipMode'), 'may not be specified when `ip` is not set'))
  else if (mode !== undefined && mode !== 'VIP' && mode !== 'Proxy') errors.push(unsupported(child(path, 'ipMode'), mode, ['Proxy', 'VIP']))
  if (host === '') return errors
  errors.push(...dnsSubdomainErrors(child(path, 'hostname'), host))
  if (ipFamilyOf(host) !== undefined) errors.push(invalid(child(path, 'hostname'), host, 'must be a DNS name, not an IP address'))
  return errors
}
