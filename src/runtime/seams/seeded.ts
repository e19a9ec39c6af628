/**
 * The seam for the seeded worlds: what people may ask for of a module's kinds, drawn at random, and what is true of them at
 * every moment, whatever fails meanwhile. `npm run prove:faults` takes both from the modules.
 */
import type { Random } from '../../base/random.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'

/** What a module brings to the seeded worlds. */
export interface SeededPart {
  generators: readonly Generator[]
  invariants: readonly Invariant[]
}

/** A kind of object that users write. One file and one line each. */
export interface Generator {
  name: string
  resource: Resource
  /** A few, so that they meet: `namespace/name`, or the name of what has no namespace. */
  names: readonly string[]
  /** What one of them is to be like: plain JSON. */
  draw(random: Random): unknown
  /** As it is created. */
  object(where: string, desired: unknown): KubeObject
  /** Changes what is there into what is wished for (default: its spec is replaced). */
  change?(object: KubeObject, desired: unknown): void
  /** In which clusters (default: all). */
  isFor?(cluster: string): boolean
  /** It goes by itself within this time: it is not written again in the end, and then it must be gone. */
  fleetingMs?: number
  /** A deleted one rightly stays while this pod is on a node: it uses it. */
  usedBy?: string
  /** People never take it away. */
  isLasting?: boolean
  /** Somebody else may write the opposite: what becomes of it is judged by the world alone. */
  isContested?: boolean
  /** What is wrong with one that has been at rest, undefined when nothing is. */
  wrong?(object: KubeObject, desired: unknown): string | undefined
}

export interface Invariant {
  /** A sentence that is true at every moment. */
  says: string
  /** Plurals of the resources whose changes can break it, so that others need not be looked at (default: all). */
  about?: readonly string[]
  /** Looks at what is stored, and at the change that has just been; returns what is wrong, undefined when nothing is. */
  broken(objects: InvariantView, change: Change): string | undefined
}

/** What is stored right now in one cluster. */
export interface InvariantView {
  /** `pods`, or with its group where that matters: `deployments.apps`. */
  list(plural: string): readonly KubeObject[]
  /** `namespace/name`, or the name of what has no namespace. */
  get(plural: string, where: string): KubeObject | undefined
}

/** One write. */
export interface Change {
  /** Where it was made. */
  cluster: string
  /** `pods`, `deployments.apps`. */
  resource: string
  isDeletion: boolean
  /** As it is now, or was last. */
  object: KubeObject
  previous: KubeObject | undefined
  /** People did it, and no controller. */
  isPeoples: boolean
  /** What is stored in this or another cluster. */
  in(cluster: string): InvariantView
}
