/**
 * A filter decides whether a pod can run on a node at all. It looks at the pod once per decision, then at node after
 * node; it also knows which changes may lift its rejection, so that pods are not retried in vain.
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
  /** Removing pods from the node would not help. */
  readonly isFinal: boolean
}

/** No node will do, for a reason that lies in the pod itself or in what it asks for. */
export interface Refusal {
  readonly refused: Rejection
}

export interface Prepared {
  check(node: NodeState): Rejection | undefined
  /** Pretends that another pod is on a node (1) or gone from it (-1); undone by the opposite. */
  simulate?(other: PodInfo, node: NodeState, sign: 1 | -1): void
  /** Only these nodes are possible. */
  readonly only?: ReadonlySet<string>
  /** Its answer for a node depends on other nodes too. */
  readonly isWide?: boolean
}

/** Something that changed, and may matter to a waiting pod. */
export type Change = PlaceChange | { kind: 'claim' | 'volume' | 'storage-class' | 'namespace'; old?: KubeObject; now?: KubeObject }

export type ClusterEvent = 'node' | 'pod-added' | 'pod-removed' | 'pod-changed' | 'claim' | 'volume' | 'storage-class' | 'namespace'

export interface Filter {
  readonly name: string
  /** Undefined when it does not apply to this pod. */
  prepare(pod: PodInfo, snapshot: Snapshot): Prepared | Refusal | undefined
  /** Which changes `isHelpedBy` is asked about. */
  readonly listens: readonly ClusterEvent[]
  /** Whether a change may make a node acceptable for a pod that this filter rejected. */
  isHelpedBy(change: Change, pod: PodInfo, snapshot: Snapshot): boolean
}

export const rejection = (by: string, reasons: string | readonly string[], isFinal: boolean): Rejection =>
  Object.freeze({ by, reasons: typeof reasons === 'string' ? [reasons] : reasons, isFinal })

export const isRefusal = (prepared: Prepared | Refusal): prepared is Refusal => 'refused' in prepared

export function clusterEventOf(change: Change): ClusterEvent {
  if (change.kind !== 'pod') return change.kind
  return change.now === undefined ? 'pod-removed' : change.old === undefined ? 'pod-added' : 'pod-changed'
}
