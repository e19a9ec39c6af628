/** What the slices of one service should be, and how to get there from what they are. Pure. */
import { deepEqual, setOwn } from '../../../base/json.ts'
import { ENDPOINT_SLICES } from '../../../kinds/kubernetes/resources.ts'
import type { EndpointSlice, Node, Pod, Service, SliceEndpoint } from '../../../kinds/kubernetes/types.ts'
import { childName } from '../../../kube/child-name.ts'
import { type Action, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { controllerReference } from '../../../runtime/workloads/pod/ownership.ts'
import { isPodReady } from '../../../runtime/workloads/pod/state.ts'
import {
  type AddressFamily,
  addressesOf,
  familiesOf,
  groupedBy,
  HEADLESS_LABEL,
  hasServiceIp,
  hostnameOf,
  isPublished,
  type OfferedPort,
  portsOf,
  selectorOfService,
  TRIGGER_TIME,
  triggerTime,
  zoneOf,
} from '../service-pods.ts'
import { identityOf, packEndpoints } from './packing.ts'

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'
export const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by'
export const MANAGER = 'endpointslice-controller.k8s.io'
const RESERVED_LABELS = new Set([SERVICE_NAME_LABEL, MANAGED_BY_LABEL, HEADLESS_LABEL])
const MAX_ENDPOINTS = 100

export interface Observed {
  service: Service | undefined
  /** Those the service selects, in a stable order. */
  pods: readonly Pod[]
  /** Slices of this service that we manage, including those being deleted. */
  slices: readonly EndpointSlice[]
  nodes: ReadonlyMap<string, Node>
}

/** Changes of slices, collected over families and ports; a slice to be deleted is reused for one to be created. */
interface Changes {
  update: { slice: EndpointSlice; wanted: Wanted }[]
  create: Wanted[]
  remove: EndpointSlice[]
}

interface Wanted {
  family: AddressFamily
  ports: OfferedPort[]
  endpoints: SliceEndpoint[]
}

export function plan(observed: Observed): Plan {
  const { service } = observed
  if (service === undefined || selectorOfService(service) === undefined) return NOTHING_TO_DO
  const alive = observed.slices.filter((slice) => slice.metadata.deletionTimestamp === undefined).sort(byName)
  const families = familiesOf(service)
  const changes: Changes = { update: [], create: [], remove: [] }
  for (const family of families) {
    const ofFamily = changesOf(family, service, { ...observed, slices: alive.filter((slice) => slice.addressType === family) })
    changes.update.push(...ofFamily.update)
    changes.create.push(...ofFamily.create)
    changes.remove.push(...ofFamily.remove)
  }
  changes.remove.push(...alive.filter(({ addressType }) => !families.some((family) => family === addressType)))
  return { actions: actionsOf(service, changes, observed) }
}

function changesOf(family: AddressFamily, service: Service, { pods, slices, nodes }: Observed): Changes {
  const isOwned = (slice: EndpointSlice): boolean => (slice.metadata.ownerReferences ?? []).some(({ uid }) => uid === service.metadata.uid)
  const owned = groupedBy(slices.filter(isOwned), (slice) => portsKey((slice.ports ?? []) as OfferedPort[]))
  const changes: Changes = { update: [], create: [], remove: slices.filter((slice) => !isOwned(slice)) }
  const groups = wantedOf(family, service, { pods, nodes })
  for (const [key, wanted] of groups) {
    const packing = packEndpoints(owned.get(key) ?? [], wanted.endpoints, MAX_ENDPOINTS)
    changes.update.push(...packing.update.map(({ slice, endpoints }) => ({ slice, wanted: { ...wanted, endpoints } })))
    changes.update.push(...packing.keep.filter((slice) => !hasLabelsOf(slice, service)).map((slice) => asIs(slice, wanted)))
    changes.create.push(...packing.create.map((endpoints) => ({ ...wanted, endpoints })))
    changes.remove.push(...packing.remove)
  }
  for (const [key, unwanted] of owned) if (!groups.has(key)) changes.remove.push(...unwanted)
  return withPlaceholder(changes, family, { service, slices })
}

const asIs = (slice: EndpointSlice, wanted: Wanted): Changes['update'][number] => ({
  slice,
  wanted: { ...wanted, endpoints: slice.endpoints ?? [] },
})

/** A service without endpoints has one empty slice, which shows that it was processed. */
function withPlaceholder(changes: Changes, family: AddressFamily, of: { service: Service; slices: readonly EndpointSlice[] }): Changes {
  if (of.slices.length !== changes.remove.length || changes.create.length > 0) return changes
  const [only] = changes.remove
  const isPlaceholder = (slice: EndpointSlice): boolean =>
    (slice.endpoints ?? []).length === 0 &&
    (slice.ports ?? []).length === 0 &&
    deepEqual(slice.metadata.labels ?? {}, labelsOf(of.service)) &&
    deepEqual(slice.metadata.ownerReferences, [controllerReference(of.service)])
  if (changes.remove.length === 1 && only !== undefined && isPlaceholder(only)) return { ...changes, remove: [] }
  return { ...changes, create: [{ family, ports: [], endpoints: [] }] }
}

/** Endpoints by the ports they offer; pods that resolve a named port differently are in slices of their own. */
function wantedOf(family: AddressFamily, service: Service, { pods, nodes }: Pick<Observed, 'pods' | 'nodes'>): Map<string, Wanted> {
  const groups = new Map<string, Wanted>()
  for (const pod of pods) {
    if (!isPublished(pod, true)) continue
    const ports = portsOf(service, pod)
    const key = portsKey(ports)
    const group = groups.get(key) ?? { family, ports, endpoints: [] }
    groups.set(key, group)
    const node = nodes.get(pod.spec?.nodeName ?? '')
    // Its node is gone, and it soon will be too; a service that publishes not-ready addresses publishes this one as well.
    if (node === undefined && service.spec?.publishNotReadyAddresses !== true) continue
    const endpoint = endpointOf(pod, service, { family, node })
    if (endpoint.addresses !== undefined && endpoint.addresses.length > 0) group.endpoints.push(endpoint)
  }
  for (const group of groups.values()) group.endpoints = [...new Map(group.endpoints.map((one) => [identityOf(one), one])).values()]
  return groups
}

function endpointOf(pod: Pod, service: Service, { family, node }: { family: AddressFamily; node: Node | undefined }): SliceEndpoint {
  const serving = isPodReady(pod)
  const terminating = pod.metadata.deletionTimestamp !== undefined
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating)
  const { namespace, name, uid } = pod.metadata
  const nodeName = pod.spec?.nodeName ?? ''
  const zone = node === undefined ? undefined : zoneOf(node)
  const hostname = hostnameOf(pod, service)
  const hints = ready ? hintsOf(service.spec?.trafficDistribution, { zone, nodeName }) : undefined
  return {
    addresses: addressesOf(pod, family),
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName === '' ? {} : { nodeName }),
    ...(zone === undefined || zone === '' ? {} : { zone }),
    ...(hints === undefined ? {} : { hints }),
  }
}

/** If a service prefers close traffic, every endpoint is hinted for its own zone, and for its own node if requested. */
function hintsOf(distribution: string | undefined, { zone, nodeName }: { zone?: string; nodeName: string }): SliceEndpoint['hints'] {
  const isSameNode = distribution === 'PreferSameNode'
  if (!isSameNode && distribution !== 'PreferClose' && distribution !== 'PreferSameZone') return undefined
  const forZones = zone === undefined || zone === '' ? {} : { forZones: [{ name: zone }] }
  const forNodes = isSameNode && nodeName !== '' ? { forNodes: [{ name: nodeName }] } : {}
  const hints = { ...forZones, ...forNodes }
  return Object.keys(hints).length === 0 ? undefined : hints
}

const portsKey = (ports: readonly OfferedPort[]): string =>
  JSON.stringify(
    ports.map(({ name, port, protocol, appProtocol }) => [name ?? '', port, protocol ?? 'TCP', appProtocol ?? '']).sort(byText),
  )

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
const byName = (a: EndpointSlice, b: EndpointSlice): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)

function actionsOf(service: Service, changes: Changes, { pods, slices }: Observed): Action[] {
  const { namespace = '', name = '' } = service.metadata
  const eventOnFailure: Action['eventOnFailure'] = (why) => ({
    of: service,
    type: 'Warning',
    reason: 'FailedToUpdateEndpointSlices',
    message: `Error updating Endpoint Slices for Service ${namespace}/${name}: ${why}`,
  })
  const podOf = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  const annotate = (wanted: Wanted, before: EndpointSlice | undefined): string | undefined => {
    const held = new Map((before?.endpoints ?? []).map((endpoint) => [identityOf(endpoint), endpoint]))
    const changed = wanted.endpoints.filter((endpoint) => !deepEqual(held.get(identityOf(endpoint)), endpoint))
    const ofPods = changed.flatMap(({ targetRef }) => podOf.get(targetRef?.uid) ?? [])
    return triggerTime(service, slices.length === 0, ofPods)
  }
  const { create, update, remove } = reuse(service, changes)
  const names = newNames(service, slices, create.length)
  const updates = update.map(({ slice, wanted }): Action => {
    const object = sliceFor(service, wanted, { time: annotate(wanted, slice), before: slice })
    return { do: 'update', resource: ENDPOINT_SLICES, object, eventOnFailure }
  })
  const creates = create.map((wanted, i): Action => {
    const object = sliceFor(service, wanted, { time: annotate(wanted, undefined), name: names[i] })
    return { do: 'create', resource: ENDPOINT_SLICES, object, eventOnFailure }
  })
  const deletes = remove.map((of): Action => ({ do: 'delete', resource: ENDPOINT_SLICES, of, eventOnFailure }))
  // While the service is being deleted, nothing new is created that the collector would have to delete again.
  return [...(service.metadata.deletionTimestamp === undefined ? creates : []), ...updates, ...deletes]
}

/** A slice to be deleted is rewritten into one to be created. */
function reuse(service: Service, { create, update, remove }: Changes): Changes {
  const reused: Changes = { create: [...create], update: [...update], remove: [] }
  for (const slice of remove) {
    const at = reused.create.findIndex(({ family }) => family === slice.addressType)
    const isOwned = (slice.metadata.ownerReferences ?? []).some(({ uid }) => uid === service.metadata.uid)
    const [wanted] = at >= 0 && isOwned ? reused.create.splice(at, 1) : []
    if (wanted === undefined) reused.remove.push(slice)
    else reused.update.push({ slice, wanted })
  }
  return reused
}

/** Derived, and never the name of a slice that exists or is being deleted. */
function newNames(service: Service, slices: readonly EndpointSlice[], count: number): string[] {
  const taken = new Set(slices.map(({ metadata }) => metadata.name))
  const names: string[] = []
  for (let i = 0; names.length < count; i++) {
    const name = childName(`${service.metadata.name ?? ''}-`, service.metadata.uid ?? '', String(i))
    if (!taken.has(name)) names.push(name)
  }
  return names
}

interface SliceBasis {
  time: string | undefined
  name?: string
  before?: EndpointSlice
}

function sliceFor(service: Service, { family, ports, endpoints }: Wanted, { time, name, before }: SliceBasis): EndpointSlice {
  const annotations = Object.fromEntries(Object.entries(before?.metadata.annotations ?? {}).filter(([key]) => key !== TRIGGER_TIME))
  if (time !== undefined) annotations[TRIGGER_TIME] = time
  const metadata = {
    ...(before?.metadata ?? { name, namespace: service.metadata.namespace }),
    labels: labelsOf(service),
    annotations: Object.keys(annotations).length === 0 ? undefined : annotations,
    ownerReferences: before?.metadata.ownerReferences ?? [controllerReference(service)],
  }
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, addressType: family, endpoints, ports }
}

function labelsOf(service: Service): Record<string, string> {
  const labels: Record<string, string> = {}
  for (const [key, value] of Object.entries(service.metadata.labels ?? {})) if (!RESERVED_LABELS.has(key)) setOwn(labels, key, value)
  if (!hasServiceIp(service)) labels[HEADLESS_LABEL] = ''
  labels[SERVICE_NAME_LABEL] = service.metadata.name ?? ''
  labels[MANAGED_BY_LABEL] = MANAGER
  return labels
}

const hasLabelsOf = (slice: EndpointSlice, service: Service): boolean => deepEqual(slice.metadata.labels ?? {}, labelsOf(service))
