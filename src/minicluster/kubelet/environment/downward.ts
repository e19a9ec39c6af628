/** The downward API: fields and resources of a pod as text. Pure. */
import type { Container, Node, Pod, ResourceFieldSelector } from '../../../kinds/kubernetes/types.ts'
import { goQuote } from '../../../kube/go-print.ts'
import { type Quantity, quantityMilliValue, quantityOf, quantitySign, quantityValue, tryParseQuantity } from '../../../kube/quantity.ts'

export type Value = { value: string } | { problem: string }

/** Addresses of the pod and its host, before the status has them. */
export interface Addresses {
  podIP?: string
  hostIP?: string
}

export function fieldValue(pod: Pod, path: string, addresses: Addresses = {}): Value {
  const { metadata, spec, status } = pod
  const subscript = /^(.+?)\['(.*)'\]$/.exec(path)
  if (subscript !== null) return subscripted(pod, subscript[1] ?? '', subscript[2] ?? '')
  const podIP = addresses.podIP ?? status?.podIP ?? ''
  const hostIP = addresses.hostIP ?? status?.hostIP ?? ''
  const fields: Record<string, string> = {
    'metadata.name': metadata.name ?? '',
    'metadata.namespace': metadata.namespace ?? '',
    'metadata.uid': metadata.uid ?? '',
    'metadata.labels': formatMap(metadata.labels),
    'metadata.annotations': formatMap(metadata.annotations),
    'spec.nodeName': spec?.nodeName ?? '',
    'spec.serviceAccountName': spec?.serviceAccountName ?? '',
    'status.hostIP': hostIP,
    'status.hostIPs': hostIP,
    'status.podIP': podIP,
    'status.podIPs': podIP,
  }
  const value = Object.hasOwn(fields, path) ? fields[path] : undefined
  return value === undefined ? { problem: `unsupported fieldPath: ${path}` } : { value }
}

function subscripted({ metadata }: Pod, path: string, key: string): Value {
  const map = path === 'metadata.labels' ? metadata.labels : path === 'metadata.annotations' ? metadata.annotations : undefined
  if (path !== 'metadata.labels' && path !== 'metadata.annotations')
    return { problem: `fieldPath "${path}['${key}']" does not support subscript` }
  return { value: (map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined) ?? '' }
}

/** `key="value"` per line, sorted by key. */
function formatMap(map: Record<string, string> | undefined): string {
  const entries = Object.entries(map ?? {}).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return entries.map(([key, value]) => `${key}=${goQuote(value)}`).join('\n')
}

export interface ResourceContext {
  /** Limits that are not set default to those of the node. */
  node: Node | undefined
  /** Used when the selector names none: the container it belongs to. */
  container?: Container
}

export function resourceValue(pod: Pod, selector: ResourceFieldSelector, context: ResourceContext): Value {
  const name = selector.containerName ?? ''
  const container = name === '' ? context.container : containersOf(pod).find((one) => one.name === name)
  if (container === undefined) return { problem: `container ${name} not found` }
  const match = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/.exec(selector.resource ?? '')
  if (match === null) return { problem: `unsupported container resource : ${selector.resource ?? ''}` }
  const [, which, resource = ''] = match
  const { limits = {}, requests = {} } = container.resources ?? {}
  const own = (map: Record<string, string | number>): string | number | undefined =>
    Object.hasOwn(map, resource) ? map[resource] : undefined
  const limit = own(limits) ?? own(context.node?.status?.allocatable ?? {})
  const quantity = parse((which === 'limits' ? limit : own(requests)) ?? '0')
  const asked = parse(selector.divisor ?? '1')
  // A divisor of zero counts as one, as does no divisor.
  const divisor = asked !== undefined && quantitySign(asked) > 0 ? asked : ONE
  const units = resource === 'cpu' ? quantityMilliValue : quantityValue
  return { value: String(Math.ceil((quantity === undefined ? 0 : units(quantity)) / units(divisor))) }
}

const ONE = quantityOf(1)

const parse = (text: string | number): Quantity | undefined => tryParseQuantity(text).value

const containersOf = ({ spec }: Pod): Container[] => [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
