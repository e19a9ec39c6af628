/** A world for seeds: what runs in it, what people may wish for there, and what is true of it. */
import type { Random } from '../../base/random.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
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
  /** People never take it away. */
  isLasting?: boolean
  /** Somebody else may wish for the opposite: what becomes of it is judged by the world alone. */
  isContested?: boolean
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
  /** Asked of each cluster; `all` are there to be compared with. */
  atRest?(cluster: WorldCluster, all: readonly WorldCluster[]): Promise<void>
  outside?(cluster: WorldCluster): unknown
  /** Clusters whose links may be cut for a while (default: none). */
  cutOff?: readonly string[]
  /** Steps of people at most (default 14). */
  maxSteps?: number
  /** What happens in its own time, though nothing seems due: so much time passes before the end is judged, asked until it is none (default 0). */
  patienceMs?(all: readonly WorldCluster[], waitedMs: number): number
  /** Writes of controllers that one cause may lead to (default 60). */
  writesPerCause?: number
  /** Whether the end depends on the last wishes alone, and not on the way there. */
  isPathless: boolean
}
