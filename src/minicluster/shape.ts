/** What a member cluster of `up` looks like: how many nodes of which kind, how large, and in which zones. */
import type { Node } from '../kinds/kubernetes/types.ts'

export interface NodeSize {
  cpu: string
  memory: string
  pods: number
}

export interface NodePool {
  count: number
  size: NodeSize
}

export interface MemberShape {
  /** Number of the member, from 1: it makes its networks distinct. */
  index: number
  /** Where its pod networks begin (default 0): two Sluices on one machine with different values do not share addresses. */
  network?: number
  /** Name of the cluster: its nodes are named after it. */
  name: string
  region: string
  /** Nodes are spread over these in turn. */
  zones: readonly string[]
  simulated: NodePool
  process: NodePool
}

/** Number of /24 networks for pods of process nodes, inside 127.64.0.0/10. */
export const POD_NETWORKS = 64 * 256

export const SIMULATED_NODE_SIZE: NodeSize = Object.freeze({ cpu: '8', memory: '32Gi', pods: 110 })

/** On simulated nodes, so that only pods meant to be simulated are placed there. */
export const SIMULATED_TAINT = 'sluice.dev/simulated'
/** On a pod or a namespace: `simulated` or `process`. */
export const RUN_ANNOTATION = 'sluice.dev/run'

/** On nodes that a shape created, and may remove again; nodes that people created do not have it. */
export const POOL_LABEL = 'sluice.dev/pool'

/** On a node: how it runs its pods, `simulated` or `process`. */
export const NODE_LABEL = 'sluice.dev/node'

export const isSimulated = (node: Node): boolean =>
  node.metadata.labels?.[NODE_LABEL] === 'simulated' || (node.spec?.taints ?? []).some((taint) => taint.key === SIMULATED_TAINT)
