/**
 * Makes the results of two runs comparable: times, uids, revisions, addresses and generated names become placeholders, lists
 * whose order is meaningless are sorted, and what only the node writes is left out (kwok and our nodes word it differently).
 */
import type { EndpointSlice, Endpoints, Event, Pod, ReplicaSet } from '../../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../../src/kube/meta.ts'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** Nodes of ours and of kwok, and their zones. */
const NODE = /\b(member1-simulated|node)-\d+\b/g
const ZONE = /^(east-[ab]|zone-\d)$/
/** The scenario's own. */
const NAMESPACE = /\bparity-\d+-\d+\b/g
/** Jobs of cron jobs carry the minute they were due in. */
const MINUTE = /-\d{8}(?=$|[^0-9])/g
/** A time of day, on which the two runs cannot agree; they can on its time zone. */
const LOCAL_TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?=Z|[+-]\d\d:\d\d)/g
/** Suffixes that are hashes or generated: 5 to 10 letters of Kubernetes' alphabet for names. */
const SUFFIX = /-[bcdfghjklmnpqrstvwxz2456789]{5,10}(?=$|[^a-z0-9])/g
const HASH_LABELS = new Set(['pod-template-hash', 'controller-revision-hash'])
const DROPPED_METADATA = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
  'selfLink',
  'generateName',
  'namespace',
  'name',
])
/** Annotations of ours, and of kubectl. */
const IGNORED_ANNOTATION = /^(sluice\.dev|kubectl\.kubernetes\.io)\//
const TIME_KEY = /(Time|Timestamp|At)$/
/** Components that report for nodes rather than for controllers. */
const NODE_COMPONENTS = new Set(['kubelet', 'kwok', 'kwok_controller', 'node-controller', 'minicluster.nodes.registration'])

const plainText = (text: string): string =>
  text
    .replace(UUID, '<uid>')
    .replace(NODE, '<node>')
    .replace(NAMESPACE, '<namespace>')
    .replace(MINUTE, '-<minute>')
    .replace(LOCAL_TIME, '<time>')
    .replace(SUFFIX, '-#')

export function comparable(object: KubeObject): unknown {
  if (object.kind === 'Pod') return comparablePod(object as Pod)
  if (object.kind === 'Endpoints') return comparableEndpoints(object as Endpoints)
  if (object.kind === 'EndpointSlice')
    return comparableObject({ ...object, ports: inOrder((object as EndpointSlice).ports) } as EndpointSlice)
  if (object.kind === 'ReplicaSet') return comparableReplicaSet(object as ReplicaSet)
  return comparableObject(object)
}

function comparableObject(object: KubeObject): unknown {
  return { kind: object.kind, ...metadataOf(object), ...(plain(withoutMeta(object)) as object) }
}

/** Kubernetes puts the ports of endpoints in the order of their hashes. */
const inOrder = <T>(ports: readonly T[] | undefined): T[] => [...(ports ?? [])].sort(byText)

function comparableEndpoints(endpoints: Endpoints): unknown {
  const subsets = endpoints.subsets?.map((subset) => ({ ...subset, ports: inOrder(subset.ports) }))
  return comparableObject({ ...endpoints, subsets } as Endpoints)
}

/** In how many steps a rollout scaled a ReplicaSet depends on when each pod was seen: its generation counts them. */
function comparableReplicaSet(set: ReplicaSet): unknown {
  if (set.metadata.ownerReferences === undefined) return comparableObject(set)
  const { generation, ...metadata } = set.metadata
  const { observedGeneration, ...status } = set.status ?? { replicas: 0 }
  return { ...(comparableObject({ ...set, metadata, status }) as object), isObserved: observedGeneration === generation }
}

const withoutMeta = ({ kind: _kind, apiVersion: _version, metadata: _metadata, ...rest }: KubeObject): object => rest

function metadataOf({ metadata }: KubeObject): Record<string, unknown> {
  const kept = Object.fromEntries(Object.entries(metadata).filter(([key]) => !DROPPED_METADATA.has(key)))
  const annotations = Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !IGNORED_ANNOTATION.test(key)))
  return { name: plainText(metadata.name ?? ''), ...(plain({ ...kept, annotations }) as object) }
}

/** Of a pod: what its controller, admission and the scheduler set. What the node reports differs. */
function comparablePod(pod: Pod): unknown {
  const { spec = {}, status = {} } = pod
  const { nodeName, tolerations, ...asked } = spec
  const conditions = status.conditions?.filter(
    ({ type, status: is }) => type === 'DisruptionTarget' || (type === 'PodScheduled' && is !== 'True'),
  )
  return {
    kind: 'Pod',
    ...metadataOf(pod),
    spec: plain({ ...asked, tolerations: tolerations?.filter(({ key }) => key !== 'sluice.dev/simulated') }),
    isScheduled: nodeName !== undefined,
    phase: status.phase,
    ready: status.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    ...(plain({ conditions }) as object),
  }
}

function plain(value: unknown, key = ''): unknown {
  if (typeof value === 'string') {
    if (TIME_KEY.test(key)) return '<time>'
    if (ZONE.test(value)) return '<zone>'
    if (value.startsWith('-----BEGIN CERTIFICATE-----')) return '<certificate>'
    return HASH_LABELS.has(key) ? '<hash>' : plainText(value)
  }
  if (Array.isArray(value))
    return sorted(
      value.map((item) => plain(item)),
      key,
    )
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    // kwok's nodes have no region.
    .filter(
      ([name, of]) =>
        name !== 'uid' && name !== 'resourceVersion' && name !== 'topology.kubernetes.io/region' && of !== undefined && !isEmpty(of),
    )
    .map(([name, of]) => [plainText(name), isAddress(name, of) ? '<address>' : plain(of, name)] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const ADDRESSES = new Set(['podIP', 'podIPs', 'hostIP', 'hostIPs', 'nodeName', 'addresses', 'clusterIP', 'clusterIPs', 'ip'])
/** Not `None`, nor the addresses of Endpoints, which name their targets. */
const isAddress = (key: string, value: unknown): boolean =>
  ADDRESSES.has(key) && !String(value).includes('None') && !(key === 'addresses' && Array.isArray(value) && typeof value[0] === 'object')
const isEmpty = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0
/** Lists that are really sets. */
const sorted = (items: unknown[], key: string): unknown[] =>
  ['conditions', 'ownerReferences', 'finalizers', 'endpoints', 'subsets', 'addresses', 'notReadyAddresses', 'active'].includes(key)
    ? [...items].sort(byText)
    : items

export const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

/** Distinct events of controllers, as text. */
export function comparableEvents(events: readonly Event[]): string[] {
  const reported = events
    .filter(({ source, reportingComponent }) => !NODE_COMPONENTS.has(source?.component ?? reportingComponent ?? ''))
    .map(({ type, reason, message, involvedObject, source, reportingComponent }) => {
      const from = source?.component || reportingComponent || ''
      return plainText(`${from}: ${type} ${reason} ${involvedObject?.kind}/${involvedObject?.name}: ${message}`)
    })
  return [...new Set(reported)].filter((one, _, all) => !isTakenBack(one, all)).sort()
}

/**
 * kube-controller-manager sometimes reports that it cancels a deletion which it has just carried out: its worker is still
 * listed when the event of the deletion arrives.
 */
function isTakenBack(reported: string, all: readonly string[]): boolean {
  return (
    reported.includes(': Cancelling deletion of Pod ') &&
    all.includes(reported.replace(': Cancelling deletion of Pod ', ': Marking for deletion Pod '))
  )
}
