/** The shape of an explanation, which is also its machine-readable form. */
import type { ObjectRef, TypedObjectRef } from '../../kube/object-reference.ts'

import type { Link, LinkState } from '../../runtime/seams/explainer.ts'

export type State = LinkState

export interface ClusterLink {
  name: string
  isChosen: boolean
  /** Why it was chosen, or why not. */
  why: string
  replicas?: number
  state: State
  /** Of the Work: applied, waiting, refused. */
  work?: ObjectRef & { says: string }
  /** Of the object in the cluster. */
  object?: { health: string; status?: string }
}

export interface Explanation {
  template: Required<TypedObjectRef>
  state: State
  /** In one sentence. */
  says: string
  /** The one thing to do now; absent when everything is well. */
  fix?: string
  links: readonly Link[]
  clusters: readonly ClusterLink[]
  /** Clusters that are not listed, by reason. */
  others: Readonly<Record<string, number>>
}

/** What is collected along the chain. */
export interface Finding {
  links: Link[]
  clusters: ClusterLink[]
  others: Record<string, number>
  /** The first one found counts. */
  trouble?: { state: State; says: string; fix: string }
  /** That an object is not healthy in a cluster counts when nobody knows more about it. */
  unhealthy?: { state: State; says: string; fix: string }
}
