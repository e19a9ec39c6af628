/** What a member cluster of `up` looks like: how many nodes of which kind, how large, and where they say they are. */
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
  /** Where its pods' networks begin (default 0): two Sluices on one machine that differ in it do not share addresses. */
  network?: number
  /** Name of the cluster: its nodes are called after it. */
  name: string
  region: string
  /** Nodes are spread over these in turn. */
  zones: readonly string[]
  simulated: NodePool
  process: NodePool
}

/** Networks of /24 there are for pods of process nodes, inside 127.64.0.0/10. */
export const POD_NETWORKS = 64 * 256

export const SIMULATED_NODE_SIZE: NodeSize = Object.freeze({ cpu: '8', memory: '32Gi', pods: 110 })

/** Simulated nodes carry it, so that only pods meant to be played come there. */
export const SIMULATED_TAINT = 'sluice.dev/simulated'
/** On a pod or a namespace: `simulated` or `process`. */
export const RUN_ANNOTATION = 'sluice.dev/run'

/** Nodes that a shape made, and may take away again, carry it; nodes that people made do not. */
export const POOL_LABEL = 'sluice.dev/pool'

/** On a node: what it makes of its pods, `simulated` or `process`. */
export const NODE_LABEL = 'sluice.dev/node'

export const isSimulated = (node: Node): boolean =>
  node.metadata.labels?.[NODE_LABEL] === 'simulated' || (node.spec?.taints ?? []).some((taint) => taint.key === SIMULATED_TAINT)
