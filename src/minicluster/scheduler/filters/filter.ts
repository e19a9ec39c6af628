/**
 * A filter says of a node whether a pod can be there at all. It looks at the pod once per decision, then at node after
 * node; it also knows which changes may turn its no into a yes, so that nobody tries again for nothing.
 */
import type { KubeObject } from '../../../kube/meta.ts'
import type { Snapshot } from '../snapshot.ts'
import type { Change as PlaceChange } from '../state/cluster-state.ts'
import type { NodeState } from '../state/node-state.ts'
import type { PodInfo } from '../state/pod-info.ts'

export interface Rejection {
  /** Name of the filter. */
  readonly by: string
  readonly reasons: readonly string[]
  /** Taking pods away from the node would not help. */
  readonly isFinal: boolean
}

/** No node will do, for a reason that lies in the pod itself or in what it asks for. */
export interface Refusal {
  readonly refused: Rejection
}

export interface Prepared {
  check(node: NodeState): Rejection | undefined
  /** Imagines another pod on a node (1) or away from it (-1); undone by the opposite. */
  simulate?(other: PodInfo, node: NodeState, sign: 1 | -1): void
  /** Only these nodes can do. */
  readonly only?: ReadonlySet<string>
  /** Its answer for a node depends on other nodes, too. */
  readonly isWide?: boolean
}

/** Something that happened, and may matter to a pod that waits. */
export type Change = PlaceChange | { kind: 'claim' | 'volume' | 'storage-class' | 'namespace'; old?: KubeObject; now?: KubeObject }

export type ClusterEvent = 'node' | 'pod-added' | 'pod-removed' | 'pod-changed' | 'claim' | 'volume' | 'storage-class' | 'namespace'

export interface Filter {
  readonly name: string
  /** Undefined when it has nothing to say about this pod. */
  prepare(pod: PodInfo, snapshot: Snapshot): Prepared | Refusal | undefined
  /** What it listens to, to be asked whether it helps. */
  readonly listens: readonly ClusterEvent[]
  /** Whether a change may make a node good for a pod that this filter kept from it. */
  isHelpedBy(change: Change, pod: PodInfo, snapshot: Snapshot): boolean
}

export const rejection = (by: string, reasons: string | readonly string[], isFinal: boolean): Rejection =>
  Object.freeze({ by, reasons: typeof reasons === 'string' ? [reasons] : reasons, isFinal })

export const isRefusal = (prepared: Prepared | Refusal): prepared is Refusal => 'refused' in prepared

export function clusterEventOf(change: Change): ClusterEvent {
  if (change.kind !== 'pod') return change.kind
  return change.now === undefined ? 'pod-removed' : change.old === undefined ? 'pod-added' : 'pod-changed'
}
