/** What a member cluster of `up` looks like: how many nodes of which kind, how large, and where they say they are. */
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
