/**
 * Address families of a Service on a cluster with one IPv4 range: how `clusterIP`, `clusterIPs`, `ipFamilies` and
 * `ipFamilyPolicy` follow from each other and from what the Service was before.
 */
import { type FieldError, index, invalid } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { invalidError } from '../../../../kube/status.ts'
import { ensureObject, number, object, string, writableObjects } from '../fields.ts'
import { ipFamilyOf } from '../ip.ts'
import {
  allocatesNodePorts,
  clusterIp,
  clusterIps,
  healthCheckNodePort,
  ipFamilies,
  ipFamilyPolicy,
  isExternalName,
  needsHealthCheck,
  nodePorts,
  ports,
  sameClusterIps,
  sameIpFamilies,
  serviceType,
  spec,
} from './service-shape.ts'
import { clusterIpErrors } from './service-validation.ts'

/** A client that sends only some fields keeps what was allocated before. */
export function patchAllocatedValues(service: KubeObject, old: KubeObject): void {
  const target = ensureObject(service, 'spec')
  if (!isExternalName(old) && !isExternalName(service)) {
    if (clusterIp(service) === '' && clusterIp(old) !== '') target.clusterIP = clusterIp(old)
    if (clusterIps(service).length === 0 && clusterIps(old).length > 0) target.clusterIPs = [...clusterIps(old)]
  }
  if (allocatesNodePorts(old) && allocatesNodePorts(service)) {
    const used = new Set(nodePorts(service).filter((port) => nodePorts(old).includes(port)))
    const byName = new Map(ports(old).map((port) => [string(port, 'name'), number(port, 'nodePort')]))
    for (const port of writableObjects(target, 'ports')) {
      const before = byName.get(string(port, 'name')) ?? 0
      if (number(port, 'nodePort') === 0 && before !== 0 && !used.has(before)) port.nodePort = before
    }
  }
  if (needsHealthCheck(old) && needsHealthCheck(service) && healthCheckNodePort(service) === 0 && healthCheckNodePort(old) !== 0)
    target.healthCheckNodePort = healthCheckNodePort(old)
}

/** Old clients know only `clusterIP`: their changes to it are applied to the list. */
export function normalizeClusterIps(service: KubeObject, old: KubeObject | undefined): void {
  const target = ensureObject(service, 'spec')
  const ip = clusterIp(service)
  if (old === undefined) {
    if (ip !== '' && clusterIps(service).length === 0) target.clusterIPs = [ip]
    return
  }
  if (clusterIps(old).length > 0 && clusterIps(service).length === 0 && clusterIp(old) === ip) target.clusterIPs = [...clusterIps(old)]
  if (clusterIp(old) === ip || !sameClusterIps(old, service)) return
  if (ip === '') delete target.clusterIPs
  else target.clusterIPs = [ip]
}

/** A PreferDualStack Service that did not change in this respect is left alone. */
export function isSettledDualStack(service: KubeObject, old: KubeObject | undefined): boolean {
  if (old === undefined || ipFamilyPolicy(service) !== 'PreferDualStack') return false
  if ((ipFamilyPolicy(old) ?? 'PreferDualStack') !== 'PreferDualStack') return false
  if (serviceType(old) !== serviceType(service) || !['ClusterIP', 'NodePort', 'LoadBalancer'].includes(serviceType(service))) return false
  return sameClusterIps(old, service) && sameIpFamilies(old, service)
}

const isSelectorlessHeadless = (service: KubeObject): boolean =>
  clusterIp(service) === 'None' && Object.keys(object(spec(service), 'selector')).length === 0

export function initFamilyFields(service: KubeObject, old: KubeObject | undefined): void {
  if (isExternalName(service)) return
  const target = ensureObject(service, 'spec')
  if (ipFamilyPolicy(service) === undefined) {
    const before = old === undefined ? undefined : ipFamilyPolicy(old)
    target.ipFamilyPolicy = before ?? (isSelectorlessHeadless(service) ? 'RequireDualStack' : 'SingleStack')
  }
  refuseAny(service, clusterIpErrors(service, old))
  refuseAny(service, [...(old === undefined ? [] : downgradeErrors(service, old)), ...policyErrors(service)])
  const families = familiesOfIps(service)
  if (isSelectorlessHeadless(service)) {
    if (families.length === 0) families.push('IPv4')
    if (families.length < 2 && ipFamilyPolicy(service) !== 'SingleStack') families.push(families[0] === 'IPv4' ? 'IPv6' : 'IPv4')
    target.ipFamilies = families
    return
  }
  refuseAny(service, clusterErrors(service, families))
  target.ipFamilies = families.length === 0 ? ['IPv4'] : families
}

function downgradeErrors(service: KubeObject, old: KubeObject): FieldError[] {
  const target = ensureObject(service, 'spec')
  if (ipFamilyPolicy(service) === 'SingleStack') {
    if (sameClusterIps(old, service) && clusterIps(service).length > 1) target.clusterIPs = clusterIps(service).slice(0, 1)
    if (sameIpFamilies(old, service) && ipFamilies(service).length > 1) target.ipFamilies = ipFamilies(service).slice(0, 1)
    return []
  }
  const reduced = (after: readonly string[], before: readonly string[]): boolean => after.length > 0 && after.length < before.length
  const say = (what: string): FieldError =>
    invalid('spec.ipFamilyPolicy', ipFamilyPolicy(service) ?? null, `must be 'SingleStack' to release the secondary ${what}`)
  return [
    ...(reduced(clusterIps(service), clusterIps(old)) ? [say('cluster IP')] : []),
    ...(reduced(ipFamilies(service), ipFamilies(old)) ? [say('IP family')] : []),
  ]
}

function policyErrors(service: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  if (ipFamilyPolicy(service) === 'SingleStack') {
    const say = (what: string): FieldError =>
      invalid('spec.ipFamilyPolicy', 'SingleStack', `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`)
    if (clusterIps(service).length === 2) errors.push(say('cluster IPs'))
    if (ipFamilies(service).length === 2) errors.push(say('IP families'))
  }
  const ips = clusterIps(service)
  for (const [i, ip] of ips.entries()) {
    if (ip === 'None') break
    if (i >= ipFamilies(service).length && ipFamilyOf(ip) === 'IPv6')
      errors.push(invalid(index('spec.clusterIPs', i), ips, 'IPv6 is not configured on this cluster'))
  }
  return errors
}

function familiesOfIps(service: KubeObject): string[] {
  const families = [...ipFamilies(service)]
  const ips = clusterIps(service)
  if (ips[0] === 'None') return families
  for (let i = families.length; i < ips.length; i++) families.push('IPv4')
  return families
}

function clusterErrors(service: KubeObject, families: readonly string[]): FieldError[] {
  const errors: FieldError[] = []
  if (ipFamilyPolicy(service) === 'RequireDualStack')
    errors.push(invalid('spec.ipFamilyPolicy', 'RequireDualStack', 'this cluster is not configured for dual-stack services'))
  for (const [i, family] of families.entries())
    if (family !== 'IPv4') errors.push(invalid(index('spec.ipFamilies', i), family, 'not configured on this cluster'))
  return errors
}

function refuseAny(service: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidError({ group: '', kind: 'Service' }, service.metadata.name ?? '', errors)
}
