/**
 * Registers the simulated nodes that a member's shape asks for, as kubelets do when they start: once per process, so a
 * node that somebody deletes stays away until the next start. Removes nodes of its own that the shape no longer has.
 * Sole writer of: those nodes' registration and their first status. Runs again when such a node changes.
 */
import { NODES } from '../../../kinds/kubernetes/resources.ts'
import type { Node } from '../../../kinds/kubernetes/types.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { type Controller, defineController, NOTHING_TO_DO, type Plan, type Signal } from '../../../runtime/controller.ts'
import { type MemberShape, NODE_LABEL, POOL_LABEL } from '../../shape.ts'
import { simulatedNode, simulatedNodeName, simulatedNodeStatus } from './node.ts'

export interface Observed {
  node: Node | undefined
  shape: MemberShape
  /** Which of the shape's simulated nodes this is; undefined when it is none. */
  index: number | undefined
  /** Seen or created since this process started. */
  isRegistered: boolean
  nowMs: number
}

export function nodeRegistration(shape: MemberShape): Controller {
  const indexOfName = new Map(Array.from({ length: shape.simulated.count }, (_, i) => [simulatedNodeName(shape, i), i]))
  const registered = new Set<string>()
  return defineController<Observed, Node>({
    name: 'minicluster.nodes.registration',
    component: 'kubelet',
    for: NODES,
    signals: [atStart([...indexOfName.keys()].map((name) => ({ namespace: '', name })))],
    writes: [
      { resource: NODES, verbs: ['create', 'delete'] },
      { resource: NODES, subresource: 'status', verbs: ['patch'] },
    ],
    concurrency: 8,
    observe({ name }, node, read) {
      const isRegistered = registered.has(name)
      if (node !== undefined) registered.add(name)
      return { node, shape, index: indexOfName.get(name), isRegistered, nowMs: read.nowMs() }
    },
    plan,
  })
}

export function plan({ node, shape, index, isRegistered, nowMs }: Observed): Plan {
  if (node === undefined) {
    if (index === undefined || isRegistered) return NOTHING_TO_DO
    return { actions: [{ do: 'create', resource: NODES, object: simulatedNode(shape, index) }] }
  }
  const labels = node.metadata.labels ?? {}
  if (labels[NODE_LABEL] !== 'simulated' || node.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  if (index === undefined && labels[POOL_LABEL] === 'simulated') return { actions: [{ do: 'delete', resource: NODES, of: node }] }
  if ((node.status?.conditions ?? []).some(({ type }) => type === 'Ready')) return NOTHING_TO_DO
  const status = { ...simulatedNodeStatus(node, shape, nowMs), ...ownAmounts(node) }
  return {
    actions: [
      {
        do: 'patch',
        resource: NODES,
        of: node,
        patch: { status },
        subresource: 'status',
        events: { of: node, type: 'Normal', reason: 'Starting', message: 'A simulated node has started.' },
      },
    ],
  }
}

/** A simulated node that a user creates may have its own size. */
function ownAmounts(node: Node): Pick<NonNullable<Node['status']>, 'capacity' | 'allocatable'> {
  const { capacity, allocatable = capacity } = node.status ?? {}
  return capacity === undefined ? {} : { capacity, allocatable }
}

function atStart(refs: readonly ObjectRef[]): Signal {
  return {
    subscribe(enqueue) {
      for (const ref of refs) enqueue(ref)
      return () => undefined
    },
  }
}
