/** Services and their pods, for both controllers that publish addresses: which selects which, by index, and what a pod offers. */
import { NODES, PODS, SERVICES } from '../../kinds/kubernetes/resources.ts'
import type { Container, Node, Pod, Service, ServicePort } from '../../kinds/kubernetes/types.ts'
import { timeToMs } from '../../kube/go-time.ts'
import { formatIp, parseIp } from '../../kube/ip.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ObjectRef } from '../../kube/object-reference.ts'
import { type LabelSelector, matchesLabels } from '../../kube/selector.ts'
import { type Index, indexOf, type Reader, via, type Watch } from '../../runtime/controller.ts'
import { bySelector, type Selecting, selecting } from '../../runtime/workloads/pod/indexes.ts'
import { isPodTerminal } from '../../runtime/workloads/pod/state.ts'

const LABELS = 'labels'
const NODE = 'node'
const ZONE_LABEL = 'topology.kubernetes.io/zone'
export const HEADLESS_LABEL = 'service.kubernetes.io/headless'
export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time'

/** Undefined for services whose endpoints are written by others. */
export function selectorOfService({ spec }: Service): LabelSelector | undefined {
  const pairs = Object.entries(spec?.selector ?? {})
  if (pairs.length === 0 || spec?.type === 'ExternalName') return undefined
  return pairs.map(([key, value]) => ({ key, operator: '=', values: [value] }))
}

const services: Selecting<Service> = { resource: SERVICES, selectorOf: selectorOfService }

/** Declare both to use `podsOfService`. */
export const servicePodIndexes: readonly Index[] = [
  bySelector(services),
  indexOf(PODS, LABELS, ({ metadata: { namespace = '', labels = {} } }) =>
    Object.entries(labels).map(([key, value]) => anchor(namespace, key, value)),
  ),
]

export const podWatch: Watch = via(PODS, (pod, read) => servicesOf(pod, read))

/** Zones of endpoints come from nodes, and a pod on a node that does not exist is not published. */
export const nodeIndex: Index = indexOf(PODS, NODE, ({ spec }) => ((spec?.nodeName ?? '') === '' ? [] : [spec?.nodeName ?? '']))
export const nodeWatch: Watch = via(
  NODES,
  (node, read) => read.byIndex(PODS, NODE, node.metadata.name ?? '').flatMap((pod) => servicesOf(pod, read)),
  { isRelevantUpdate: (old, node) => zoneOf(old) !== zoneOf(node) || old.metadata.uid !== node.metadata.uid },
)

/** Where endpoints on this node are. */
export function zoneOf({ metadata: { labels = {} } }: Node): string | undefined {
  return Object.hasOwn(labels, ZONE_LABEL) ? labels[ZONE_LABEL] : undefined
}

const anchor = (namespace: string, key: string, value: string): string => `${namespace} ${key}=${value}`

const servicesOf = (pod: KubeObject, read: Reader): ObjectRef[] =>
  selecting(read, services, pod).map(({ metadata: { namespace = '', name = '' } }) => ({ namespace, name }))

/** Sorted by name. */
export function podsOfService(service: Service, read: Reader): Pod[] {
  const selector = selectorOfService(service)
  const [first] = selector ?? []
  if (selector === undefined || first === undefined) return []
  const found = read.byIndex(PODS, LABELS, anchor(service.metadata.namespace ?? '', first.key, first.values[0] ?? ''))
  const name = (pod: Pod): string => pod.metadata.name ?? ''
  return found.filter((pod) => matchesLabels(selector, pod.metadata.labels)).sort((a, b) => (name(a) < name(b) ? -1 : 1))
}

/** Has an address, and runs or will run. */
export function isPublished(pod: Pod, withTerminating: boolean): boolean {
  if (isPodTerminal(pod) || ipsOf(pod).length === 0) return false
  return withTerminating || pod.metadata.deletionTimestamp === undefined
}

function ipsOf({ status }: Pod): string[] {
  const all = (status?.podIPs ?? []).flatMap(({ ip }) => (ip === undefined || ip === '' ? [] : [ip]))
  return all.length > 0 || (status?.podIP ?? '') === '' ? all : [status?.podIP ?? '']
}

export type AddressFamily = 'IPv4' | 'IPv6'

/** A pod's addresses of one family, in canonical form. */
export function addressesOf(pod: Pod, family: AddressFamily): string[] {
  return ipsOf(pod).flatMap((text) => {
    const ip = parseIp(text)
    return ip === undefined || familyOf(text) !== family ? [] : [formatIp(ip)]
  })
}

const familyOf = (ip: string): AddressFamily => (ip.includes(':') ? 'IPv6' : 'IPv4')

/** The families of a service, the primary one first. */
export function familiesOf({ spec }: Service): AddressFamily[] {
  const stated = (spec?.ipFamilies ?? []).filter((family) => family === 'IPv4' || family === 'IPv6')
  if (stated.length > 0) return [...new Set(stated)]
  const clusterIP = spec?.clusterIP ?? ''
  return clusterIP === '' || clusterIP === 'None' ? ['IPv4', 'IPv6'] : [familyOf(clusterIP)]
}

export const hasServiceIp = ({ spec }: Service): boolean => spec?.clusterIP !== 'None' && (spec?.clusterIP ?? '') !== ''

export interface OfferedPort {
  name: string
  port: number
  protocol: string
  appProtocol?: string
}

/** The service's ports resolved for this pod; ports that it does not have are left out. */
export function portsOf({ spec }: Service, pod: Pod): OfferedPort[] {
  return (spec?.ports ?? []).flatMap((port) => {
    const number = findPort(pod, port)
    if (number === undefined) return []
    const { name = '', protocol = 'TCP', appProtocol } = port
    return [{ name, port: number, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }]
  })
}

function findPort({ spec }: Pod, { targetPort, protocol = 'TCP', port }: ServicePort): number | undefined {
  if (typeof targetPort !== 'string') return targetPort ?? port
  const sidecars = (spec?.initContainers ?? []).filter((container) => container.restartPolicy === 'Always')
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((container: Container) => container.ports ?? [])
  return ports.find((one) => one.name === targetPort && (one.protocol ?? 'TCP') === protocol)?.containerPort
}

/** The hostname of a pod (of a StatefulSet) within its service. */
export const hostnameOf = ({ spec, metadata }: Pod, service: Service): string | undefined =>
  (spec?.hostname ?? '') !== '' && spec?.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace
    ? spec?.hostname
    : undefined

/**
 * The time of the change that a write publishes: the earliest readiness transition of the given pods. For a service
 * without anything published yet it is the creation of the service.
 */
export function triggerTime(service: Service, isNew: boolean, changed: readonly Pod[]): string | undefined {
  if (isNew) return service.metadata.creationTimestamp ?? undefined
  const times = changed.flatMap((pod) => (pod.status?.conditions ?? []).filter(({ type }) => type === 'Ready'))
  const known = times.map(({ lastTransitionTime }) => lastTransitionTime).filter((time) => timeToMs(time) !== undefined)
  return known.sort((a, b) => (timeToMs(a) ?? 0) - (timeToMs(b) ?? 0))[0]
}

/** Items by key, in the order of their first appearance. */
export function groupedBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}
