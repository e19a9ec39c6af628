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
  /** Number of the member, from 1: its networks are told apart by it. */
  index: number
  /** Name of the cluster: its nodes are called after it. */
  name: string
  region: string
  /** Nodes are spread over these in turn. */
  zones: readonly string[]
  simulated: NodePool
  process: NodePool
}

export const SIMULATED_NODE_SIZE: NodeSize = Object.freeze({ cpu: '8', memory: '32Gi', pods: 110 })

/** Simulated nodes carry it, so that only pods meant to be played come there. */
export const SIMULATED_TAINT = 'sluice.dev/simulated'
/** On a pod or a namespace: `simulated` or `process`. */
export const RUN_ANNOTATION = 'sluice.dev/run'

/** On a node: what it makes of its pods, `simulated` or `process`. */
export const NODE_LABEL = 'sluice.dev/node'

export const isSimulated = (node: Node): boolean =>
  node.metadata.labels?.[NODE_LABEL] === 'simulated' || (node.spec?.taints ?? []).some((taint) => taint.key === SIMULATED_TAINT)
