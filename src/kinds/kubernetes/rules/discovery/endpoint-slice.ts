/** EndpointSlice: addresses behind a Service, all of one family. */
import { child, duplicate, type FieldError, index, invalid, required, tooMany } from '../../../../kube/field-error.ts'
import { checkIp, ipWarnings } from '../../../../kube/ip.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkDns1123Label, checkDns1123Subdomain, checkLabelValue } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import { PROTOCOLS } from '../core/service-validation.ts'
import { defaultValue, type Fields, field, maybeObject, maybeString, object, objects, string, strings, writableObjects } from '../fields.ts'
import { dnsLabelErrors, dnsSubdomainErrors, immutableErrors, qualifiedNameErrors } from '../formats.ts'
import { startGeneration } from '../generation.ts'
import { endpointIpErrors, ipFamilyOf, legacyIpErrors } from '../ip.ts'
import { invalidEach, unsupported } from '../pod/errors.ts'
import { semanticEqual } from '../pod/semantic.ts'

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6']
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const OUR_MANAGERS = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io']

function addressTypeErrors(slice: KubeObject): FieldError[] {
  const type = string(slice, 'addressType')
  if (type === '') return [required('addressType')]
  return ADDRESS_TYPES.includes(type) ? [] : [unsupported('addressType', type, ADDRESS_TYPES)]
}

function portErrors(slice: KubeObject): FieldError[] {
  const ports = objects(slice, 'ports')
  if (ports.length > 20_000) return [tooMany('ports', ports.length, 20_000)]
  const names = new Set<string>()
  return ports.flatMap((port, i) => {
    const path = index('ports', i)
    const name = string(port, 'name')
    const protocol = maybeString(port, 'protocol')
    const application = maybeString(port, 'appProtocol')
    const errors = name === '' ? [] : dnsLabelErrors(child(path, 'name'), name)
    if (names.has(name)) errors.push(duplicate(child(path, 'name'), name))
    names.add(name)
    if (protocol === undefined) errors.push(required(child(path, 'protocol')))
    else if (!PROTOCOLS.includes(protocol)) errors.push(unsupported(child(path, 'protocol'), protocol, PROTOCOLS))
    return application === undefined ? errors : [...errors, ...qualifiedNameErrors(child(path, 'appProtocol'), application)]
  })
}

function addressErrors(path: string, address: string, { type, i }: { type: string; i: number }): FieldError[] {
  const at = index(path, i)
  if (type === 'FQDN') return domainNameErrors(at, address)
  if (type !== 'IPv4' && type !== 'IPv6') return []
  const errors = type === 'IPv4' ? legacyIpErrors(at, address) : checkIp(at, address)
  if (errors.length > 0) return errors
  if (ipFamilyOf(address) !== type) errors.push(invalid(path, address, `must be an ${type} address`))
  return [...errors, ...endpointIpErrors(at, address)]
}

function domainNameErrors(path: string, address: string): FieldError[] {
  if (address === '') return [required(path)]
  const name = address.replace(/\.$/, '')
  const problems = checkDns1123Subdomain(name)
  if (problems.length > 0) return [invalid(path, name, problems.join(','))]
  const labels = name.split('.')
  if (labels.length < 2) return [invalid(path, name, 'should be a domain with at least two segments separated by dots')]
  const bad = labels.find((label) => checkDns1123Label(label).length > 0)
  return bad === undefined ? [] : [invalid(path, bad, checkDns1123Label(bad).join(','))]
}

function endpointErrors(slice: KubeObject): FieldError[] {
  const endpoints = objects(slice, 'endpoints')
  if (endpoints.length > 1000) return [tooMany('endpoints', endpoints.length, 1000)]
  const type = string(slice, 'addressType')
  return endpoints.flatMap((endpoint, i) => {
    const path = index('endpoints', i)
    const at = child(path, 'addresses')
    const addresses = strings(endpoint, 'addresses')
    const errors: FieldError[] = []
    if (addresses.length === 0) errors.push(required(at, 'must contain at least 1 address'))
    else if (addresses.length > 100) errors.push(tooMany(at, addresses.length, 100))
    errors.push(...addresses.flatMap((address, j) => addressErrors(at, address, { type, i: j })))
    const [node, host] = [maybeString(endpoint, 'nodeName'), maybeString(endpoint, 'hostname')]
    if (node !== undefined) errors.push(...dnsSubdomainErrors(child(path, 'nodeName'), node))
    if (host !== undefined) errors.push(...dnsLabelErrors(child(path, 'hostname'), host))
    return [...errors, ...hintErrors(child(path, 'hints'), maybeObject(endpoint, 'hints'))]
  })
}

function hintErrors(path: string, hints: Fields | undefined): FieldError[] {
  const errors: FieldError[] = []
  const lists = [
    ['forZones', checkLabelValue],
    ['forNodes', checkDns1123Subdomain],
  ] as const
  for (const [key, check] of lists) {
    const at = child(path, key)
    const names = objects(hints, key).map((hint) => string(hint, 'name'))
    if (names.length > 8) return [...errors, tooMany(at, names.length, 8)]
    for (const [i, name] of names.entries()) {
      const here = child(index(at, i), 'name')
      if (names.indexOf(name) < i) errors.push(duplicate(here, name))
      errors.push(...invalidEach(here, name, check(name)))
    }
  }
  return errors
}

function dropTopology(slice: KubeObject): void {
  for (const endpoint of writableObjects(slice, 'endpoints')) delete endpoint.deprecatedTopology
}

function warnings(slice: KubeObject, old: KubeObject | undefined): string[] {
  const out = old === undefined && string(slice, 'addressType') === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []
  if (OUR_MANAGERS.includes(string(object(slice.metadata, 'labels'), MANAGED_BY))) return out
  return [
    ...out,
    ...objects(slice, 'endpoints').flatMap((endpoint, i) =>
      strings(endpoint, 'addresses').flatMap((address, j) => ipWarnings(index(child(index('endpoints', i), 'addresses'), j), address)),
    ),
  ]
}

export const endpointSliceRules: KindRules = {
  applyDefaults(slice) {
    for (const port of writableObjects(slice, 'ports')) {
      defaultValue(port, 'name', '')
      defaultValue(port, 'protocol', 'TCP')
    }
    for (const key of ['endpoints', 'ports']) if (objects(slice, key).length === 0) slice[key] = null
  },
  prepareForCreate(slice) {
    startGeneration(slice)
    dropTopology(slice)
  },
  prepareForUpdate(slice, old) {
    dropTopology(slice)
    const same = ['addressType', 'endpoints', 'ports'].every((key) => semanticEqual(slice[key], old[key]))
    const sameLabels = semanticEqual(slice.metadata.labels, old.metadata.labels, 'labels')
    slice.metadata.generation = (old.metadata.generation ?? 0) + (same && sameLabels ? 0 : 1)
  },
  validateCreate: (slice) => [...addressTypeErrors(slice), ...portErrors(slice), ...endpointErrors(slice)],
  validateUpdate: (slice, old) => [
    ...addressTypeErrors(slice),
    ...portErrors(slice),
    ...(semanticEqual(slice.endpoints, old.endpoints) ? [] : endpointErrors(slice)),
    ...immutableErrors('addressType', field(slice, 'addressType'), field(old, 'addressType')),
  ],
  warnings,
}
