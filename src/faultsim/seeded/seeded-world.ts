/** A world for seeds: what runs in it, what people may wish for there, and what is true of it. */
import type { Random } from '../../base/random.ts'
import type { Resource } from '../../client/resource.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Invariant } from '../prover/ledger.ts'
import type { WorldCluster, WorldOptions } from '../world/index.ts'

/** A kind of thing people wish for. One file and one line each. */
export interface Generator {
  name: string
  resource: Resource
  /** A few, so that they meet: `namespace/name`, or the name of what has no namespace. */
  names: readonly string[]
  /** What one of them is to be like: plain JSON. */
  draw(random: Random): unknown
  /** As it is created. */
  object(where: string, wish: unknown): KubeObject
  /** Changes what is there into what is wished for (default: its spec is replaced). */
  change?(object: KubeObject, wish: unknown): void
  /** In which clusters (default: all). */
  isFor?(cluster: string): boolean
  /** It goes by itself within this time: nobody wishes for it again in the end, and then it must be gone. */
  fleetingMs?: number
  /** A deleted one rightly stays while this pod is on a node: it uses it. */
  usedBy?: string
  /** What is wrong with one that has been at rest, undefined when nothing is. */
  wrong?(object: KubeObject, wish: unknown): string | undefined
}

export interface SeededWorld {
  name: string
  options: WorldOptions
  /** Names of the clusters where things happen. */
  clusters: readonly string[]
  before: readonly ((cluster: WorldCluster) => Promise<unknown>)[]
  generators: readonly Generator[]
  invariants: readonly Invariant[]
  atRest?(cluster: WorldCluster): Promise<void>
  outside?(cluster: WorldCluster): unknown
  /** Whether the end depends on the last wishes alone, and not on the way there. */
  isPathless: boolean
}
