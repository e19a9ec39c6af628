/** A world for seeds: what runs in it, what users may write there, and what is true of it. */

import type { Generator, Invariant } from '../../runtime/seams/seeded.ts'
import type { WorldCluster, WorldOptions } from '../world/index.ts'

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
  /** Whether the end depends on the last desired state alone, and not on what came before. */
  isPathless: boolean
}
