/**
 * The seam for what pods keep on a process node beyond their own life, such as the blocks of a cache that its next pod finds again.
 * The node writes down what it gives to a pod. When its owner is gone and nothing on the node uses it, the node removes it, also if
 * that pod has long moved elsewhere, or Sluice was not running.
 */
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { Resource } from '../../kube/resource.ts'

export interface KeptDirectory {
  /** The volume of the pod that it is in. */
  volume: string
  /** As pods of the node would name it; only below paths that a node has for itself (`kube/node-path.ts`). Removed as a whole. */
  path: string
  /** Whose it is, in the namespace of the pod. */
  owner: string
}

export interface NodeData {
  /** What a pod keeps. Pure. Anybody may write a pod: only what its volumes let it remove itself. */
  of(pod: Pod): readonly KeptDirectory[]
  /** The kinds of owners: what belongs to a name is kept while there is an object of one of them. */
  owners: readonly Resource[]
}
