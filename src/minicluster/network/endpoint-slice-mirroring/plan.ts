/** The slices that mirror one Endpoints object: one for each group of ports and family of addresses. Pure. */
import { deepEqual, setOwn } from '../../../base/json.ts'
import { ENDPOINT_SLICES } from '../../../kinds/kubernetes/resources.ts'
import type { EndpointAddress, EndpointSlice, EndpointSubset, Endpoints, Service, SliceEndpoint } from '../../../kinds/kubernetes/types.ts'
import { childName } from '../../../kube/child-name.ts'
import { formatIp, parseIp } from '../../../kube/ip.ts'
import type { Action, EventIntent, Plan } from '../../../runtime/controller.ts'
import { controllerReference } from '../../../runtime/workloads/pod/ownership.ts'
import { identityOf } from '../endpoint-slice/packing.ts'
import { MANAGED_BY_LABEL, SERVICE_NAME_LABEL } from '../endpoint-slice/plan.ts'
import { type AddressFamily, TRIGGER_TIME } from '../service-pods.ts'
import { repackedSubsets } from '../subsets.ts'

export const MANAGER = 'endpointslicemirroring-controller.k8s.io'
const SKIP_LABEL = 'endpointslice.kubernetes.io/skip-mirror'
/** Endpoints were once used as locks; those hold no addresses to publish. */
const LEADER_ANNOTATION = 'control-plane.alpha.kubernetes.io/leader'
const UNCOPIED_ANNOTATIONS = new Set([TRIGGER_TIME, 'kubectl.kubernetes.io/last-applied-configuration'])
const MAX_ADDRESSES = 1000

export interface Observed {
  /** Undefined when there is nothing to mirror (any more). */
  endpoints: Endpoints | undefined
  /** The slices that mirror them now, including those being deleted. */
  slices: readonly EndpointSlice[]
}

/** Only hand-written Endpoints of a service without a selector are mirrored: others have slices already. */
export function mirrored(endpoints: Endpoints | undefined, service: Service | undefined): Endpoints | undefined {
  if (endpoints === undefined || service === undefined || service.spec?.selector !== undefined) return undefined
  const { labels = {}, annotations = {} } = endpoints.metadata
  return labels[SKIP_LABEL] === 'true' || Object.hasOwn(annotations, LEADER_ANNOTATION) ? undefined : endpoints
}

type SlicePort = NonNullable<EndpointSlice['ports']>[number]

interface Wanted {
  family: AddressFamily
  ports: SlicePort[]
  endpoints: SliceEndpoint[]
}

export function plan({ endpoints, slices }: Observed): Plan {
  const alive = slices.filter(({ metadata }) => metadata.deletionTimestamp === undefined).sort(byName)
  if (endpoints === undefined) return { actions: alive.map(remove) }
  const { wanted, skipped } = wantedOf(repackedSubsets(endpoints.subsets ?? []))
  const free = new Set(alive)
  const isOwned = (slice: EndpointSlice): boolean =>
    (slice.metadata.ownerReferences ?? []).some(({ uid }) => uid === endpoints.metadata.uid)
  const take = (fits: (slice: EndpointSlice) => boolean): EndpointSlice | undefined => {
    const found = alive.find((slice) => free.has(slice) && isOwned(slice) && fits(slice))
    if (found !== undefined) free.delete(found)
    return found
  }
  // Each first keeps the slice of its own ports, so that unchanged ones are not rewritten; then slices to be deleted are reused.
  const kept = wanted.map((one) => take((slice) => keyOf(slice.addressType, slice.ports) === keyOf(one.family, one.ports)))
  const used = wanted.map((one, i) => kept[i] ?? take((slice) => slice.addressType === one.family))
  const taken = new Set(slices.map(({ metadata }) => metadata.name))
  const events = skipped === 0 ? undefined : tooMany(endpoints, skipped)
  const writes = wanted.flatMap((one, i): Action[] => {
    const before = used[i]
    const object = sliceFor(endpoints, one, before ?? newName(endpoints, taken))
    if (before === undefined) return [{ do: 'create', resource: ENDPOINT_SLICES, object, events }]
    return isSame(before, object) ? [] : [{ do: 'update', resource: ENDPOINT_SLICES, object, events }]
  })
  const isGoing = endpoints.metadata.deletionTimestamp !== undefined
  return { actions: [...writes.filter((action) => !isGoing || action.do !== 'create'), ...[...free].map(remove)] }
}

const remove = (of: EndpointSlice): Action => ({ do: 'delete', resource: ENDPOINT_SLICES, of })

/** A subset contributes at most a thousand addresses, ready ones first. */
function wantedOf(subsets: readonly EndpointSubset[]): { wanted: Wanted[]; skipped: number } {
  const groups = new Map<string, Wanted>()
  let skipped = 0
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const offered = ports.map(({ name = '', port, protocol = 'TCP', appProtocol }) =>
      appProtocol === undefined ? { name, port, protocol } : { name, port, protocol, appProtocol },
    )
    const all = [...addresses.map((one) => endpointOf(one, true)), ...notReadyAddresses.map((one) => endpointOf(one, false))]
    skipped += Math.max(0, all.length - MAX_ADDRESSES)
    for (const endpoint of all.slice(0, MAX_ADDRESSES)) {
      const family = endpoint.addresses?.[0]?.includes(':') === true ? 'IPv6' : 'IPv4'
      const key = keyOf(family, offered)
      const group = groups.get(key) ?? { family, ports: offered, endpoints: [] }
      groups.set(key, group)
      group.endpoints.push(endpoint)
    }
  }
  const wanted = [...groups.values()].map((group) => ({ ...group, endpoints: eachOnce(group.endpoints) }))
  return { wanted, skipped }
}

const eachOnce = (endpoints: readonly SliceEndpoint[]): SliceEndpoint[] =>
  [...new Map(endpoints.map((endpoint) => [identityOf(endpoint), endpoint])).values()].slice(0, MAX_ADDRESSES)

function endpointOf({ ip = '', hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): SliceEndpoint {
  const parsed = parseIp(ip)
  return {
    addresses: [parsed === undefined ? ip : formatIp(parsed)],
    conditions: { ready },
    ...(hostname === undefined || hostname === '' ? {} : { hostname }),
    ...(targetRef === undefined ? {} : { targetRef }),
    ...(nodeName === undefined ? {} : { nodeName }),
  }
}

const keyOf = (family: string | undefined, ports: readonly SlicePort[] | undefined): string =>
  JSON.stringify([
    family,
    (ports ?? [])
      .map(({ name = '', port, protocol = 'TCP', appProtocol = '' }) => JSON.stringify([name, port, protocol, appProtocol]))
      .sort(),
  ])

const byName = (a: EndpointSlice, b: EndpointSlice): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)

/** Derived, and never the name of a slice that exists or is being deleted. */
function newName(endpoints: Endpoints, taken: Set<string | undefined>): string {
  for (let i = 0; ; i++) {
    const name = childName(`${endpoints.metadata.name ?? ''}-`, endpoints.metadata.uid ?? '', String(i))
    if (taken.has(name)) continue
    taken.add(name)
    return name
  }
}

function sliceFor(endpoints: Endpoints, { family, ports, endpoints: addresses }: Wanted, from: EndpointSlice | string): EndpointSlice {
  const { namespace, labels, annotations } = endpoints.metadata
  const copied: Record<string, string> = {}
  for (const [key, value] of Object.entries(labels ?? {})) setOwn(copied, key, value)
  copied[SERVICE_NAME_LABEL] = endpoints.metadata.name ?? ''
  copied[MANAGED_BY_LABEL] = MANAGER
  const kept = Object.entries(annotations ?? {}).filter(([key]) => !UNCOPIED_ANNOTATIONS.has(key))
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...(typeof from === 'string' ? { name: from, namespace } : from.metadata),
      labels: copied,
      annotations: kept.length === 0 ? undefined : Object.fromEntries(kept),
      ownerReferences: [controllerReference(endpoints)],
    },
    addressType: family,
    endpoints: addresses,
    ports,
  }
}

const isSame = (before: EndpointSlice, after: EndpointSlice): boolean =>
  keyOf(before.addressType, before.ports) === keyOf(after.addressType, after.ports) &&
  deepEqual(before.endpoints ?? [], after.endpoints ?? []) &&
  deepEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {}) &&
  deepEqual(before.metadata.annotations ?? {}, after.metadata.annotations ?? {})

const tooMany = (of: Endpoints, skipped: number): EventIntent => ({
  of,
  type: 'Warning',
  reason: 'TooManyAddressesToMirror',
  message: `A max of ${MAX_ADDRESSES} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`,
})
