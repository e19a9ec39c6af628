/** A world for seeds: what runs in it, what users may write there, and what holds for it. */

import type { Generator, Invariant } from '../../runtime/seams/seeded.ts'
import type { WorldCluster, WorldOptions } from '../world/index.ts'

export interface SeededWorld {
  name: string
  options: WorldOptions
  /** Names of the clusters that users act on. */
  clusters: readonly string[]
  /** Done with each cluster of a world that is made, before it starts: what is not stored and so not in a snapshot. */
  equip?(cluster: WorldCluster): void
  before: readonly ((cluster: WorldCluster) => Promise<unknown>)[]
  generators: readonly Generator[]
  /** In some seeds, users mostly do what one of these lists says: what belongs together then meets more often. */
  focuses?: readonly (readonly Generator[])[]
  invariants: readonly Invariant[]
  /** Checked for each cluster; `all` is there for comparison. */
  atRest?(cluster: WorldCluster, all: readonly WorldCluster[]): Promise<void>
  outside?(cluster: WorldCluster): unknown
  /** Clusters whose links may be cut for a while (default: none). */
  cutOff?: readonly string[]
  /** Maximum number of user steps (default 14). */
  maxSteps?: number
  /**
   * Time to let pass before the end is judged, for things that take their time although nothing seems due; called until it
   * returns 0 (default 0).
   */
  patienceMs?(all: readonly WorldCluster[], waitedMs: number): number
  /** Writes of controllers that one cause may lead to (default 60). */
  writesPerCause?: number
  /** Whether the end depends on the last desired state alone, and not on earlier ones. */
  isPathless: boolean
}
