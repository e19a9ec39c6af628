/** What the Endpoints of one service should be: subsets of addresses that offer the same ports, at most 1000 in all. Pure. */
import { deepEqual, setOwn } from '../../../base/json.ts'
import { ENDPOINTS } from '../../../kinds/kubernetes/resources.ts'
import type { EndpointAddress, EndpointSubset, Endpoints, Pod, Service } from '../../../kinds/kubernetes/types.ts'
import { type Action, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { isPodReady } from '../../../runtime/workloads/pod/state.ts'
import {
  addressesOf,
  familiesOf,
  HEADLESS_LABEL,
  hasServiceIp,
  hostnameOf,
  isPublished,
  portsOf,
  selectorOfService,
  TRIGGER_TIME,
  triggerTime,
} from '../service-pods.ts'
import { inOrder, joinedSubsets, type PortOffers } from '../subsets.ts'

const MANAGED_BY_LABEL = 'endpoints.kubernetes.io/managed-by'
export const MANAGER = 'endpoint-controller'
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity'
const MAX_ADDRESSES = 1000

export interface Observed {
  service: Service | undefined
  /** Those the service selects, in a stable order. */
  pods: readonly Pod[]
  endpoints: Endpoints | undefined
}

export function plan({ service, pods, endpoints }: Observed): Plan {
  if (service === undefined) return endpoints === undefined || !isManaged(endpoints) ? NOTHING_TO_DO : { actions: [remove(endpoints)] }
  if (selectorOfService(service) === undefined) return NOTHING_TO_DO
  const all = subsetsOf(service, pods)
  const { subsets, isTruncated } = truncate(all)
  if (endpoints !== undefined && isRight(endpoints, service, { subsets, isTruncated })) return NOTHING_TO_DO
  const time = triggerTime(service, endpoints === undefined, changedPods(endpoints, subsets, pods))
  const object = endpointsFor(service, endpoints, { subsets, isTruncated, time })
  return { actions: [endpoints === undefined ? create(service, object) : update(service, object)] }
}

const isManaged = ({ metadata: { labels = {} } }: Endpoints): boolean => labels[MANAGED_BY_LABEL] === MANAGER

export function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const byPort = new Map<string, PortOffers>()
  const isUnreadyToo = service.spec?.publishNotReadyAddresses === true
  for (const pod of pods) {
    const address = isPublished(pod, isUnreadyToo) ? addressOf(pod, service) : undefined
    if (address === undefined) continue
    const isHeadless = service.spec?.clusterIP === 'None'
    const ports = (service.spec?.ports ?? []).length === 0 ? (isHeadless ? [undefined] : []) : portsOf(service, pod)
    for (const port of ports) {
      const key = JSON.stringify(port ?? null)
      const entry = byPort.get(key) ?? { port, offers: new Map() }
      byPort.set(key, entry)
      entry.offers.set(`${address.ip ?? ''} ${pod.metadata.uid ?? ''}`, { address, isReady: isUnreadyToo || isPodReady(pod) })
    }
  }
  return joinedSubsets(byPort.values())
}

function addressOf(pod: Pod, service: Service): EndpointAddress | undefined {
  const [family] = familiesOf(service)
  const [ip] = family === undefined ? [] : addressesOf(pod, family)
  if (ip === undefined) return undefined
  const { namespace, name, uid } = pod.metadata
  const hostname = hostnameOf(pod, service)
  const nodeName = pod.spec?.nodeName
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  }
}

const countOf = (subsets: readonly EndpointSubset[], which: 'addresses' | 'notReadyAddresses'): number =>
  subsets.reduce((sum, subset) => sum + (subset[which]?.length ?? 0), 0)

/** Ready addresses go before others; each subset keeps its share, rounded up while there is capacity. */
export function truncate(subsets: readonly EndpointSubset[], max = MAX_ADDRESSES): { subsets: EndpointSubset[]; isTruncated: boolean } {
  const ready = countOf(subsets, 'addresses')
  const notReady = countOf(subsets, 'notReadyAddresses')
  if (ready + notReady <= max) return { subsets: [...subsets], isTruncated: false }
  const cutsReady = ready > max
  const capacity = cutsReady ? max : max - ready
  const total = cutsReady ? ready : notReady
  let left = capacity
  const cut = (addresses: EndpointAddress[] | undefined): EndpointAddress[] | undefined => {
    const kept = (addresses ?? []).slice(0, Math.min(left, Math.ceil(((addresses?.length ?? 0) / total) * capacity)))
    left -= kept.length
    return kept.length === 0 ? undefined : kept
  }
  const cutSubsets = subsets.map(({ addresses, notReadyAddresses, ports }) => {
    const kept = cutsReady ? { addresses: cut(addresses) } : { addresses, notReadyAddresses: cut(notReadyAddresses) }
    return { ...kept, ...(ports === undefined ? {} : { ports }) }
  })
  return { subsets: inOrder(cutSubsets.map(withoutUndefined)), isTruncated: true }
}

const withoutUndefined = (subset: EndpointSubset): EndpointSubset =>
  Object.fromEntries(Object.entries(subset).filter(([, value]) => value !== undefined)) as EndpointSubset

interface Wanted {
  subsets: EndpointSubset[]
  isTruncated: boolean
}

function isRight(endpoints: Endpoints, service: Service, { subsets, isTruncated }: Wanted): boolean {
  return (
    deepEqual(inOrder(endpoints.subsets ?? []), subsets) &&
    deepEqual(endpoints.metadata.labels ?? {}, labelsOf(service)) &&
    (endpoints.metadata.annotations?.[OVER_CAPACITY] === 'truncated') === isTruncated
  )
}

function labelsOf(service: Service): Record<string, string> {
  const labels: Record<string, string> = {}
  for (const [key, value] of Object.entries(service.metadata.labels ?? {})) if (key !== HEADLESS_LABEL) setOwn(labels, key, value)
  if (!hasServiceIp(service)) labels[HEADLESS_LABEL] = ''
  labels[MANAGED_BY_LABEL] = MANAGER
  return labels
}

/** Pods that are published differently than before. */
function changedPods(before: Endpoints | undefined, after: readonly EndpointSubset[], pods: readonly Pod[]): Pod[] {
  const stateOf = (subsets: readonly EndpointSubset[]): Map<string, boolean> =>
    new Map(
      subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [
        ...addresses.map(({ targetRef }) => [targetRef?.uid ?? '', true] as const),
        ...notReadyAddresses.map(({ targetRef }) => [targetRef?.uid ?? '', false] as const),
      ]),
    )
  const [old, now] = [stateOf(before?.subsets ?? []), stateOf(after)]
  return pods.filter(({ metadata: { uid = '' } }) => now.has(uid) && now.get(uid) !== old.get(uid))
}

function endpointsFor(service: Service, before: Endpoints | undefined, wanted: Wanted & { time: string | undefined }): Endpoints {
  const { [TRIGGER_TIME]: _time, [OVER_CAPACITY]: _over, ...others } = before?.metadata.annotations ?? {}
  const annotations = {
    ...others,
    ...(wanted.time === undefined ? {} : { [TRIGGER_TIME]: wanted.time }),
    ...(wanted.isTruncated ? { [OVER_CAPACITY]: 'truncated' } : {}),
  }
  const { name, namespace } = service.metadata
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      ...(before?.metadata ?? { name, namespace }),
      labels: labelsOf(service),
      annotations: Object.keys(annotations).length === 0 ? undefined : annotations,
    },
    ...(wanted.subsets.length === 0 ? {} : { subsets: wanted.subsets }),
  }
}

function create(service: Service, object: Endpoints): Action {
  const { namespace = '', name = '' } = service.metadata
  return {
    do: 'create',
    resource: ENDPOINTS,
    object,
    eventOnFailure: (why) => ({
      of: object,
      type: 'Warning',
      reason: 'FailedToCreateEndpoint',
      message: `Failed to create endpoint for service ${namespace}/${name}: ${why}`,
    }),
  }
}

function update(service: Service, object: Endpoints): Action {
  const { namespace = '', name = '' } = service.metadata
  return {
    do: 'update',
    resource: ENDPOINTS,
    object,
    eventOnFailure: (why) => ({
      of: object,
      type: 'Warning',
      reason: 'FailedToUpdateEndpoint',
      message: `Failed to update endpoint ${namespace}/${name}: ${why}`,
    }),
  }
}

const remove = (of: Endpoints): Action => ({ do: 'delete', resource: ENDPOINTS, of })
