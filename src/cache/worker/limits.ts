/** The bounds of a worker where its options name none: enough for a busy one, and 64 MiB of blocks in memory at most. */
import { MIB } from '../protocol/block.ts'
import type { WorkerCounters, WorkerLimits } from './options.ts'

export const WORKER_LIMITS: WorkerLimits = {
  heartbeatMs: 2000,
  fetches: 16,
  fetchBytes: 64 * MIB,
  waiting: 1024,
  loads: 4,
  handovers: 4,
  handoverPasses: 3,
  handoverPauseMs: 1000,
  peerTimeoutMs: 3000,
  peerPauseMs: 5000,
  idleMs: 60_000,
  closeMs: 10_000,
  holdMs: 600_000,
  fileMs: 10_000,
}

export const newCounters = (): WorkerCounters => ({
  hits: 0,
  hitBytes: 0,
  misses: 0,
  missBytes: 0,
  directUses: 0,
  peerBytes: 0,
  sourceBytes: 0,
  sourceFailures: 0,
  sourceChanges: 0,
  refused: 0,
  taken: 0,
  takenBytes: 0,
  notTaken: 0,
})
