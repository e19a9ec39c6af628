/**
 * Keeps nodes' taints in line with their conditions, and sets the conditions of a silent node to Unknown. Sole writer
 * of the taints node.kubernetes.io/*, of the beta labels for os and arch, and of conditions with reason NodeStatusUnknown
 * or NodeStatusNeverUpdated. Pods on an unresponsive node are marked not ready. Runs again when the node, its Lease or,
 * for a node that is not ready, any other node changes; time matters only for nodes that have a Lease.
 */
import { formatTime } from '../../../base/clock.ts'
import type { Client } from '../../../client/client.ts'
import { ifFound } from '../../../client/errors.ts'
import { LEASES, NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Lease, Node, Pod } from '../../../kinds/kubernetes/types.ts'
import {
  type Action,
  type Controller,
  defineController,
  type EventIntent,
  indexOf,
  NOTHING_TO_DO,
  type Plan,
  type Reader,
  via,
} from '../../../runtime/controller.ts'
import { isPodReady } from '../../../runtime/workloads/pod/state.ts'
import { givenUpAtMs, isNodeReady, readyConditionOf, unknownConditions } from './health.ts'
import { type Disruption, disruptionOf, taintsFor } from './taints.ts'

const LEASE_NAMESPACE = 'kube-node-lease'
const ZONE_LABEL = 'topology.kubernetes.io/zone'
const READY = 'ready'
const ZONE = 'zone'
const NODE = 'node'
/** Kept equal to the stable labels, for consumers that still read the old ones. */
const BETA_LABELS: readonly (readonly [string, string])[] = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
]

export interface Observed {
  node: Node | undefined
  lease: Lease | undefined
  watchedSinceMs: number
  disruption: Disruption
  /** Pods on the node that report ready; looked up only when the node is declared unresponsive. */
  readyPods: readonly Pod[]
  nowMs: number
}

export function nodeLifecycle(): Controller {
  let watchedSinceMs: number | undefined
  return defineController<Observed, Node>({
    name: 'minicluster.nodes.lifecycle',
    component: 'node-controller',
    for: NODES,
    watches: [
      via(NODES, (_node, read) => read.byIndex(NODES, READY, 'no').map(({ metadata: { name = '' } }) => ({ namespace: '', name }))),
      via(LEASES, ({ metadata: { namespace, name = '' } }) => (namespace === LEASE_NAMESPACE ? [{ namespace: '', name }] : [])),
      via(PODS, ({ spec }, read) => {
        const name = spec?.nodeName ?? ''
        const node = name === '' ? undefined : read.get(NODES, '', name)
        return node !== undefined && readyConditionOf(node)?.status === 'Unknown' ? [{ namespace: '', name }] : []
      }),
    ],
    indexes: [
      indexOf(NODES, READY, (node) => [isNodeReady(node) ? 'yes' : 'no']),
      indexOf(NODES, ZONE, (node) => [zoneOf(node)]),
      indexOf(PODS, NODE, ({ spec }) => ((spec?.nodeName ?? '') === '' ? [] : [spec?.nodeName ?? ''])),
    ],
    writes: [
      { resource: NODES, verbs: ['patch'] },
      { resource: NODES, subresource: 'status', verbs: ['patch'] },
      { resource: PODS, subresource: 'status', verbs: ['patch'] },
    ],
    reads: [{ resource: LEASES, verbs: ['get'] }],
    concurrency: 4,
    async observe({ name }, node, read, client) {
      const nowMs = read.nowMs()
      watchedSinceMs ??= nowMs
      const cached = read.get(LEASES, LEASE_NAMESPACE, name)
      const isGivenUp = node !== undefined && readyConditionOf(node)?.status === 'Unknown'
      const readyPods = isGivenUp ? read.byIndex(PODS, NODE, name).filter(isPodReady) : []
      const lease = node === undefined ? undefined : await freshLease({ node, cached, watchedSinceMs, nowMs }, client)
      return { node, lease, watchedSinceMs, disruption: disruptionAround(node, read), readyPods, nowMs }
    },
    plan,
  })
}

const zoneOf = ({ metadata: { labels = {} } }: Node): string => (Object.hasOwn(labels, ZONE_LABEL) ? (labels[ZONE_LABEL] ?? '') : '')

function disruptionAround(node: Node | undefined, read: Reader): Disruption {
  if (node === undefined || isNodeReady(node)) return 'none'
  const inZone = read.byIndex(NODES, ZONE, zoneOf(node))
  const ready = inZone.filter(isNodeReady).length
  const isAnyReady = ready > 0 || read.byIndex(NODES, READY, 'yes').length > 0
  return disruptionOf({ inZone: { ready, notReady: inZone.length - ready }, isAnyReady })
}

interface Watched {
  node: Node
  cached: Lease | undefined
  watchedSinceMs: number
  nowMs: number
}

/** A stale cache must not declare a node unresponsive: the server is asked for the Lease first. */
async function freshLease({ node, cached, watchedSinceMs, nowMs }: Watched, client: Client): Promise<Lease | undefined> {
  const atMs = givenUpAtMs({ node, lease: cached, watchedSinceMs })
  if (cached === undefined || atMs === undefined || nowMs < atMs || readyConditionOf(node)?.status === 'Unknown') return cached
  return (await ifFound(client.get<Lease>(LEASES, { namespace: LEASE_NAMESPACE, name: node.metadata.name ?? '' }))) ?? cached
}

function plan(observed: Observed): Plan {
  const { node, lease, watchedSinceMs, nowMs } = observed
  if (node === undefined || node.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const atMs = givenUpAtMs({ node, lease, watchedSinceMs })
  const conditions = atMs !== undefined && atMs <= nowMs ? unknownConditions(node, nowMs) : undefined
  if (conditions !== undefined) {
    const events = isNodeReady(node) ? notReadyEvent(node) : undefined
    return { actions: [{ do: 'patch', resource: NODES, of: node, patch: { status: { conditions } }, subresource: 'status', events }] }
  }
  const requeue = atMs !== undefined && atMs > nowMs ? { requeueAfterMs: atMs - nowMs } : {}
  return { actions: [...markActions(node, observed), ...podActions(observed)], ...requeue }
}

const notReadyEvent = (node: Node): EventIntent => {
  const name = node.metadata.name ?? ''
  return { of: node, type: 'Normal', reason: 'NodeNotReady', message: `Node ${name} status is now: NodeNotReady` }
}

/** Taints and labels, in one write. */
function markActions(node: Node, { disruption, nowMs }: Observed): Action[] {
  const held = node.spec?.taints ?? []
  const taints = taintsFor(node, disruption, nowMs)
  const labels = missingLabels(node)
  const isNew = Object.keys(labels).length > 0 && !BETA_LABELS.some(([, beta]) => Object.hasOwn(node.metadata.labels ?? {}, beta))
  const patch = {
    ...(taints === held || taints.length + held.length === 0 ? {} : { spec: { taints: taints.length === 0 ? null : taints } }),
    ...(Object.keys(labels).length === 0 ? {} : { metadata: { labels } }),
  }
  if (Object.keys(patch).length === 0) return []
  return [{ do: 'patch', resource: NODES, of: node, patch, events: isNew ? registeredEvent(node) : undefined }]
}

function registeredEvent(node: Node): EventIntent {
  const name = node.metadata.name ?? ''
  const message = `Node ${name} event: Registered Node ${name} in Controller`
  return { of: node, type: 'Normal', reason: 'RegisteredNode', message }
}

function missingLabels({ metadata: { labels = {} } }: Node): Record<string, string> {
  const own = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  return Object.fromEntries(
    BETA_LABELS.flatMap(([stable, beta]) => {
      const value = own(stable)
      return value === undefined || own(beta) === value ? [] : [[beta, value]]
    }),
  )
}

/** A pod that cannot be reached is not ready. */
function podActions({ readyPods, nowMs }: Observed): Action[] {
  const lastTransitionTime = formatTime(nowMs)
  return readyPods.map((pod) => {
    const conditions = (pod.status?.conditions ?? []).map((condition) =>
      condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime } : condition,
    )
    const events: EventIntent = { of: pod, type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' }
    return { do: 'patch', resource: PODS, of: pod, patch: { status: { conditions } }, subresource: 'status', events }
  })
}
