/** Rows of services, endpoints and what routes to them. */
import { compareStrings } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { formatSelectorObject } from '../../../kube/selector.ts'
import { ageOf, at, type Cells, count, firstOf, labelsText, list, nameOf, selectorOf, text, texts } from './fields.ts'

export const service: Cells = (object, nowMs) => [
  nameOf(object),
  text(at(object, 'spec', 'type')),
  texts(at(object, 'spec', 'clusterIPs'))[0] ?? '<none>',
  externalAddress(object),
  list(at(object, 'spec', 'ports'))
    .map(servicePort)
    .join(',') || '<none>',
  ageOf(object, nowMs),
  labelsText(at(object, 'spec', 'selector')),
]

function servicePort(port: unknown): string {
  const nodePort = count(at(port, 'nodePort'))
  return `${count(at(port, 'port'))}${nodePort > 0 ? `:${nodePort}` : ''}/${text(at(port, 'protocol'))}`
}

function externalAddress(object: KubeObject): string {
  const externalIps = texts(at(object, 'spec', 'externalIPs'))
  switch (at(object, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIps.join(',') || '<none>'
    case 'LoadBalancer':
      return [...balancerAddresses(object), ...externalIps].join(',') || '<pending>'
    case 'ExternalName':
      return text(at(object, 'spec', 'externalName'))
    default:
      return '<unknown>'
  }
}

/** IPs or host names that a load balancer reported, each once, sorted. */
function balancerAddresses(object: KubeObject): string[] {
  const addresses = list(at(object, 'status', 'loadBalancer', 'ingress')).map((i) => text(at(i, 'ip'), text(at(i, 'hostname'))))
  return [...new Set(addresses.filter((address) => address !== ''))].sort(compareStrings)
}

export const endpoints: Cells = (object, nowMs) => {
  const addresses = list(at(object, 'subsets')).flatMap(subsetAddresses)
  const cell = list(at(object, 'subsets')).length === 0 ? '<none>' : firstOf(addresses, 3, '')
  return [nameOf(object), cell, ageOf(object, nowMs)]
}

/** One entry per port and address; a subset without ports is a headless service's. */
function subsetAddresses(subset: unknown): string[] {
  const ips = list(at(subset, 'addresses')).map((address) => text(at(address, 'ip')))
  const ports = list(at(subset, 'ports'))
  if (ports.length === 0) return ips
  return ports.flatMap((port) => ips.map((ip) => `${ip.includes(':') ? `[${ip}]` : ip}:${count(at(port, 'port'))}`))
}

export const endpointSlice: Cells = (object, nowMs) => {
  const ports = list(at(object, 'ports')).map((port) => {
    const number = at(port, 'port')
    return number === undefined ? text(at(port, 'name'), '*') : String(number)
  })
  const addresses = list(at(object, 'endpoints')).flatMap((endpoint) => texts(at(endpoint, 'addresses')))
  return [
    nameOf(object),
    text(at(object, 'addressType')),
    firstOf(ports, 3, '<unset>'),
    firstOf(addresses, 3, '<unset>'),
    ageOf(object, nowMs),
  ]
}

export const ingress: Cells = (object, nowMs) => [
  nameOf(object),
  text(at(object, 'spec', 'ingressClassName'), '<none>'),
  ingressHosts(list(at(object, 'spec', 'rules'))),
  balancerAddresses(object).join(','),
  list(at(object, 'spec', 'tls')).length > 0 ? '80, 443' : '80',
  ageOf(object, nowMs),
]

/** Three hosts; the number of those left out counts rules, with or without a host, as the original does. */
function ingressHosts(rules: readonly unknown[]): string {
  const shown: string[] = []
  let more = false
  for (const rule of rules) {
    if (shown.length === 3) more = true
    else if (text(at(rule, 'host')) !== '') shown.push(text(at(rule, 'host')))
  }
  if (shown.length === 0) return '*'
  return more ? `${shown.join(',')} + ${rules.length - 3} more...` : shown.join(',')
}

export const ingressClass: Cells = (object, nowMs) => {
  const isDefault = object.metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true'
  const parameters = at(object, 'spec', 'parameters')
  const group = at(parameters, 'apiGroup')
  const reference = `${text(at(parameters, 'kind'))}${group === undefined ? '' : `.${text(group)}`}/${text(at(parameters, 'name'))}`
  return [
    nameOf(object) + (isDefault ? ' (default)' : ''),
    text(at(object, 'spec', 'controller')),
    parameters === undefined ? '<none>' : reference,
    ageOf(object, nowMs),
  ]
}

export const networkPolicy: Cells = (object, nowMs) => [
  nameOf(object),
  formatSelectorObject(selectorOf(at(object, 'spec', 'podSelector') ?? {})),
  ageOf(object, nowMs),
]

export const serviceCidr: Cells = (object, nowMs) => [nameOf(object), texts(at(object, 'spec', 'cidrs')).join(','), ageOf(object, nowMs)]

/** The age has no column of its own in the real server either. */
export const ipAddress: Cells = (object, nowMs) => [nameOf(object), parentOf(at(object, 'spec', 'parentRef')), ageOf(object, nowMs)]

function parentOf(parent: unknown): string {
  if (parent === undefined) return '<none>'
  const group = text(at(parent, 'group'))
  const resource = `${text(at(parent, 'resource'))}${group === '' ? '' : `.${group}`}`.toLowerCase()
  return [resource, text(at(parent, 'namespace')), text(at(parent, 'name'))].filter((part, i) => i !== 1 || part !== '').join('/')
}
