/**
 * Registers the process nodes that a member's shape asks for and keeps their heartbeat: one Lease each, renewed every ten
 * seconds, which is all that an idle process node costs. Removes process nodes the shape no longer has.
 * Sole writer of: those nodes' registration and status, and their leases. A node that somebody deletes comes back at
 * the next start. Runs again when such a node or its lease changes, and when the lease is due for renewal.
 */
import { LEASES, NODES } from '../../../kinds/kubernetes/resources.ts'
import type { Lease, Node } from '../../../kinds/kubernetes/types.ts'
import { type Action, type Controller, defineController, NOTHING_TO_DO, type Plan, via } from '../../../runtime/controller.ts'
import { type MemberShape, NODE_LABEL, POOL_LABEL } from '../../shape.ts'
import { parseMs } from '../containers.ts'
import type { NodeSystemInfo } from '../options.ts'
import { processNode, processNodeStatus, processNodes } from './node.ts'

export interface Observed {
  name: string
  node: Node | undefined
  lease: Lease | undefined
  shape: MemberShape
  systemInfo: NodeSystemInfo | undefined
  isWanted: boolean
  /** Seen since this process started. */
  isRegistered: boolean
  nowMs: number
}

const NAMESPACE = 'kube-node-lease'
const RENEW_MS = 10_000
const LEASE_SECONDS = 40

export function processNodeRegistration(shape: MemberShape, systemInfo?: NodeSystemInfo): Controller {
  const names = new Set(processNodes(shape).map(({ name }) => name))
  const registered = new Set<string>()
  return defineController<Observed, Node>({
    name: 'minicluster.kubelet.node',
    needsHost: true,
    component: 'kubelet',
    for: NODES,
    watches: [
      via(LEASES, ({ metadata }) =>
        metadata.namespace === NAMESPACE && names.has(metadata.name ?? '') ? [{ namespace: '', name: metadata.name ?? '' }] : [],
      ),
    ],
    signals: [
      {
        subscribe(enqueue) {
          for (const name of names) enqueue({ namespace: '', name })
          return () => undefined
        },
      },
    ],
    writes: [
      { resource: NODES, verbs: ['create', 'delete'] },
      { resource: NODES, subresource: 'status', verbs: ['patch'] },
      { resource: LEASES, verbs: ['create', 'patch'] },
    ],
    observe({ name }, node, read) {
      const isRegistered = registered.has(name)
      if (node !== undefined) registered.add(name)
      const lease = names.has(name) ? read.get(LEASES, NAMESPACE, name) : undefined
      return { name, node, lease, shape, systemInfo, isWanted: names.has(name), isRegistered, nowMs: read.nowMs() }
    },
    plan,
  })
}

export function plan(observed: Observed): Plan {
  const { name, node, shape, systemInfo, isWanted, isRegistered } = observed
  if (node === undefined)
    return isWanted && !isRegistered
      ? { actions: [{ do: 'create', resource: NODES, object: processNode(shape, name, systemInfo) }] }
      : NOTHING_TO_DO
  if (node.metadata.deletionTimestamp !== undefined || node.metadata.labels?.[NODE_LABEL] !== 'process') return NOTHING_TO_DO
  if (!isWanted && node.metadata.labels[POOL_LABEL] === 'process') return { actions: [{ do: 'delete', resource: NODES, of: node }] }
  if (!isWanted) return NOTHING_TO_DO
  const { renewal, requeueAfterMs } = heartbeat(observed, node)
  return { actions: [...readiness(observed, node), ...renewal], requeueAfterMs }
}

/** The status is written when the node is new, and when it was marked Unknown because the lease was not renewed. */
function readiness({ name, shape, systemInfo, nowMs }: Observed, node: Node): Action[] {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status === 'True') return []
  const events =
    ready === undefined
      ? { reason: 'Starting', message: 'Starting kubelet.' }
      : { reason: 'NodeReady', message: `Node ${name} status is now: NodeReady` }
  const status = processNodeStatus(shape, name, nowMs, systemInfo)
  return [
    {
      do: 'patch',
      resource: NODES,
      of: node,
      patch: { status },
      subresource: 'status',
      events: { of: node, type: 'Normal', host: name, ...events },
    },
  ]
}

function heartbeat({ name, lease, nowMs }: Observed, node: Node): { renewal: Action[]; requeueAfterMs: number } {
  const renewTime = `${new Date(nowMs).toISOString().slice(0, -1)}000Z`
  if (lease === undefined) {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid ?? '' }]
    const object = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: NAMESPACE, ownerReferences },
      spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
    }
    return { renewal: [{ do: 'create', resource: LEASES, object }], requeueAfterMs: RENEW_MS }
  }
  const age = nowMs - parseMs(lease.spec?.renewTime)
  if (age >= 0 && age < RENEW_MS) return { renewal: [], requeueAfterMs: RENEW_MS - age }
  const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime }
  return { renewal: [{ do: 'patch', resource: LEASES, of: lease, patch: { spec } }], requeueAfterMs: RENEW_MS }
}
