/**
 * Which workers hold blocks. The master is the only writer; an epoch ends when a worker comes, leaves or is given up. The
 * epoch before is told too: a new owner that misses a block asks the owner of then before the source.
 */

export type WorkerState = 'serving' | 'leaving' | 'gone'

export interface WorkerEntry {
  /** The name of its pod: `demo-worker-0`. */
  name: string
  /** `host:port` of its HTTP server. */
  address: string
  /** The node it runs on: a client there reads block files directly. */
  node: string
  state: WorkerState
  /** Share of blocks relative to others: its capacity in bytes. */
  weight: number
}

export interface Membership {
  epoch: number
  /** Sorted by name. Only those that serve own blocks. */
  workers: readonly WorkerEntry[]
  /** Those that served in the epoch before. */
  previous: readonly WorkerEntry[]
}
