/**
 * What a worker is made of: everything it needs of the outside is here, so that a command wires the real things and tests bring
 * their own. The worker opens no file of the configuration, reads no environment and finds nobody by itself.
 */
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Tier, TierUsage } from '../blocks/tier.ts'
import type { FileEntry } from '../protocol/file.ts'
import type { Membership, WorkerState } from '../protocol/membership.ts'
import type { Source, SourceFile } from '../sources/source.ts'

export interface WorkerOptions {
  /** The name of its pod. */
  name: string
  node: string
  /** `host:port` that others reach it at; absent: where it listens. */
  address?: string
  /** The dataset's namespace and name: blocks of others in the same directories are not touched. */
  dataset: { namespace: string; name: string }
  /** From fast to slow. */
  tiers: readonly Tier[]
  blockBytes: number
  /** On how many workers each block belongs. */
  replicas: number
  /** Nothing is evicted; what does not fit is read from its source each time. */
  isPinned?: boolean
  /** What tickets are signed with, and how requests between master and workers are; absent: everybody may read and write. */
  access?: WorkerAccess
  master: MasterLink
  /** The source of a mount as `MasterLink.file` named it. Rejects with SourceRefused when it cannot be opened. */
  sourceOf: (mount: string | number, signal: AbortSignal) => Promise<Source>
  clock: Clock
  log: Log
  limits?: Partial<WorkerLimits>
}

export interface WorkerAccess {
  runtimeKey: Uint8Array
  signing: RequestSigning
}

/** A request as its signature covers it. A streamed body is not covered: what a block must be is in the query. */
export interface SignedRequest {
  method: string
  /** Path and query, as in the request line. */
  target: string
  body?: Uint8Array | 'streamed'
}

export interface RequestSigning {
  /** The value of the header `authorization`. */
  sign(request: SignedRequest): string
  /** Whether the value of the header was made with the same key, for this request, and lately. */
  isSigned(authorization: string, request: SignedRequest): boolean
}

/** What a worker asks of the master. Both reject when the master cannot be reached. */
export interface MasterLink {
  heartbeat(beat: Heartbeat, signal: AbortSignal): Promise<Membership>
  /** Undefined: the dataset has no such file. */
  file(fileId: string, signal: AbortSignal): Promise<WorkerFile | undefined>
}

/** What a worker needs to read a file from its source. */
export interface WorkerFile {
  mount: string | number
  source: SourceFile
  entry: FileEntry
}

export interface Heartbeat {
  name: string
  node: string
  address: string
  state: WorkerState
  tiers: readonly TierUsage[]
  counters: WorkerCounters
}

/** All grow from 0 at the start of the process. */
export interface WorkerCounters {
  /** Requests for blocks that were answered from a tier, and their bytes. */
  hits: number
  hitBytes: number
  /** Requests for blocks that had to be fetched, and their bytes. */
  misses: number
  missBytes: number
  /** Blocks that clients of this node say they read directly. */
  directUses: number
  /** What was fetched, once for all who waited. */
  peerBytes: number
  sourceBytes: number
  sourceFailures: number
  sourceChanges: number
  /** Requests that were turned away because too many waited. */
  refused: number
  /** Hand-overs that were taken and those without room. */
  taken: number
  takenBytes: number
  notTaken: number
}

export interface WorkerLimits {
  /** Default 2 s. */
  heartbeatMs: number
  /** Blocks that are fetched at the same time, default 16, and the memory they may take (one block is always allowed), default 64 MiB. */
  fetches: number
  fetchBytes: number
  /** Requests that wait for fetches; more are answered 503. Default 1,024. */
  waiting: number
  /** Blocks that are loaded ahead of readers at the same time. Default 4. */
  loads: number
  /** Blocks that are handed over at the same time. Default 4. */
  handovers: number
  /** Passes over what could not be handed over. Default 3, and the pause before each but the first, default 1 s. */
  handoverPasses: number
  handoverPauseMs: number
  /** A peer that does not answer is given up after this, and not asked again for `peerPauseMs`. Defaults 3 s, 5 s. */
  peerTimeoutMs: number
  peerPauseMs: number
  /** A connection on which nothing moves is closed after this, also one that waits for a source. Default 60 s. */
  idleMs: number
  /** How long `close` waits for answers that are under way. Default 10 s. */
  closeMs: number
  /** A file that is held for a load is let go after this, unless it is held again. Default 10 min. */
  holdMs: number
  /** How long what the master said of a file is believed. Default 10 s. */
  fileMs: number
}

export interface Worker {
  /** Opens the tiers, listens, and begins its heartbeats. Port 0: any. */
  listen(where: { host: string; port: number }): Promise<{ host: string; port: number }>
  /** Lets answers under way end, for a while. Block files stay. */
  close(): Promise<void>
  state(): WorkerReport
  /** Other quotas for the same directories; takes effect at once, and the cache stays. */
  setQuotas(tiers: readonly Tier[]): Promise<void>
}

/** The answer of `GET /v1/state`. */
export interface WorkerReport {
  name: string
  state: WorkerState
  /** 0: not yet registered with the master. */
  epoch: number
  tiers: readonly TierUsage[]
  counters: WorkerCounters
  blocks: { stored: number; evicted: number; demoted: number; damaged: number }
  handover: HandoverReport
}

/** Blocks and bytes of a worker that leaves: with their new owners, not taken by anybody, and still here. */
export interface HandoverReport {
  state: WorkerState
  moved: Amount
  dropped: Amount
  left: Amount
}

export interface Amount {
  blocks: number
  bytes: number
}
