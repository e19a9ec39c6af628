/**
 * The seam for the seeded worlds: what users may request of a module's kinds, drawn at random, and what holds for them at
 * every moment, whatever fails meanwhile. `npm run prove:faults` takes both from the modules.
 */
import type { Random } from '../../base/random.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'

/** What a module contributes to the seeded worlds. */
export interface SeededPart {
  generators: readonly Generator[]
  /** What belongs together: in some seeds users mostly do what one of these lists says (default: one list, of all generators). */
  focuses?: readonly (readonly Generator[])[]
  invariants: readonly Invariant[]
  /** What holds when everything has settled and every member can be reached. */
  atRest?: readonly RestInvariant[]
  /** What exists before a seed begins, in each cluster that the module runs in. */
  beginning?: readonly KubeObject[]
  /** What commands in the pods of a cluster do, which run nothing there (default: there are no commands). */
  commandsInPods?: CommandsInPods
  /**
   * Time to let pass before the end is judged, for things in a cluster that take their time although nothing seems due; called
   * until it returns 0 (default 0).
   */
  patienceMs?(objects: InvariantView, waitedMs: number): number
}

/** Made anew for each run of a seed. Undefined: there is no such command. */
export type CommandsInPods = (objects: InvariantView) => (call: CommandInPod) => CommandAnswer | undefined

export interface CommandInPod {
  namespace: string
  pod: string
  command: readonly string[]
}

export interface CommandAnswer {
  stdout?: string
  stderr?: string
  /** Default 0. */
  exitCode?: number
  /** How long it goes on after it has written (default: it ends). */
  lastsMs?: number
}

/** A kind of object that users write. One file and one line each. */
export interface Generator {
  name: string
  resource: Resource
  /** Only a few, so that they collide: `namespace/name`, or the name of a cluster-scoped object. */
  names: readonly string[]
  /** The desired state of one of them: plain JSON. */
  draw(random: Random): unknown
  /** As it is created. */
  object(where: string, desired: unknown): KubeObject
  /** Changes the existing object to the desired state (default: its spec is replaced). */
  change?(object: KubeObject, desired: unknown): void
  /** In which clusters (default: all). */
  isFor?(cluster: string): boolean
  /** It is deleted automatically within this time: it is not written again at the end, and must then be gone. */
  fleetingMs?: number
  /** A deleted one may remain while this pod is on a node, because the pod uses it. */
  usedBy?: string
  /** A deleted one may remain for another reason; whether there is one is judged at rest. */
  isHeld?(where: string, objects: InvariantView): boolean
  /** It is changed or deleted where it exists, and never created. */
  isOnlyChanged?: boolean
  /** It is changed as no admission allows it: what was there before a rule was, or while nobody judged. */
  passesAdmission?: boolean
  /** Users never delete it. */
  isLasting?: boolean
  /** Another writer may write the opposite: only the world's own checks judge the result. */
  isContested?: boolean
  /** What is wrong with one that has settled; undefined when nothing is. */
  wrong?(object: KubeObject, desired: unknown): string | undefined
}

/** `Memory` is what it remembers from write to write. */
export interface Invariant<Memory = unknown> {
  /** A sentence that holds at every moment. */
  says: string
  /** Plurals of the resources whose changes can break it, so that others need no check (default: all). */
  about?: readonly string[]
  /** What it remembers at the beginning of a run, in each cluster. */
  memory?(): Memory
  /** Looks at what is stored, and at the latest change; returns what is wrong, undefined when nothing is. */
  broken(objects: InvariantView, change: Change, memory: Memory): string | undefined
}

export interface RestInvariant {
  /** A sentence that holds at rest. */
  says: string
  /** Looks at what is stored in the hub and, by name, in its members; returns what is wrong, undefined when nothing is. */
  broken(hub: InvariantView, members: ReadonlyMap<string, InvariantView>): string | undefined
}

/** What is stored right now in one cluster. */
export interface InvariantView {
  /** `pods`, or with its group where that matters: `deployments.apps`. */
  list(plural: string): readonly KubeObject[]
  /** `namespace/name`, or the name of a cluster-scoped object. */
  get(plural: string, where: string): KubeObject | undefined
}

/** One write. */
export interface Change {
  /** Where it was made. */
  cluster: string
  /** `pods`, `deployments.apps`. */
  resource: string
  isDeletion: boolean
  /** As it is now, or last was. */
  object: KubeObject
  previous: KubeObject | undefined
  /** Made by a user, not a controller. */
  isPeoples: boolean
  /** What is stored in this or another cluster. */
  in(cluster: string): InvariantView
}
