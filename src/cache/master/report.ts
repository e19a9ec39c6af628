/**
 * The report of a runtime: sizes and ratios as the texts that Fluid prints, and what lies behind them as numbers. Pure. It is
 * open to whoever reaches the master, so it holds no secret: no credentials, no tickets, no names of files.
 */
import type { Inventory, MountStatus } from '../inventory/inventory.ts'
import type { WorkerState } from '../protocol/membership.ts'
import type { Reads } from './hits.ts'
import { type Members, sorted } from './members.ts'

export interface CacheStates {
  cached: string
  cacheCapacity: string
  cachedPercentage: string
  cacheHitRatio: string
  localHitRatio: string
  remoteHitRatio: string
  cacheThroughputRatio: string
  localThroughputRatio: string
  remoteThroughputRatio: string
}

export interface WorkerReportLine {
  pod: string
  node: string
  state: WorkerState
  cachedBytes: number
  capacityBytes: number
  /** Since it started: bytes that others read from it, and bytes that it read from sources. */
  servedBytes: number
  sourceBytes: number
  epoch: number
}

export interface Report extends CacheStates {
  /** `[Calculating]` until the first listing of every mount has ended. */
  ufsTotal: string
  fileNum: string
  ufsTotalBytes: number
  files: number
  isComplete: boolean
  cachedBytes: number
  capacityBytes: number
  epoch: number
  revision: number
  workers: readonly WorkerReportLine[]
  mounts: readonly Omit<MountStatus, 'refusedNames'>[]
}

const CALCULATING = '[Calculating]'
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']

/** `1.50GiB`. */
export function bytesText(bytes: number): string {
  let [size, unit] = [bytes, 0]
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024
    unit++
  }
  return `${size.toFixed(2)}${UNITS[unit]}`
}

/** `12.5%`; of nothing it is `0.0%`. */
const percentText = (part: number, whole: number): string => `${(whole > 0 ? (part * 100) / whole : 0).toFixed(1)}%`

export interface Reported {
  inventory: Pick<Inventory, 'totals' | 'isComplete' | 'revision' | 'mounts'>
  members: Members
  reads: Reads
}

export function reportOf({ inventory, members, reads }: Reported): Report {
  const { files, bytes } = inventory.totals()
  const workers = sorted(members).map(({ name, node, state, beat }) => {
    // One that is gone may beat until its pod ends, but holds nothing for the dataset any more.
    const tiers = state === 'gone' ? [] : beat?.tiers
    const counted = (counter: string): number => beat?.counters.get(counter) ?? 0
    return {
      pod: name,
      node,
      state,
      cachedBytes: sum(tiers?.map(({ usedBytes }) => usedBytes)),
      capacityBytes: sum(tiers?.map(({ quotaBytes }) => quotaBytes)),
      servedBytes: counted('hitBytes') + counted('missBytes'),
      sourceBytes: counted('sourceBytes'),
      epoch: members.epoch,
    }
  })
  // Who leaves is no part of the cache any more: what it hands over counts where it arrives.
  const serving = workers.filter(({ state }) => state === 'serving')
  const cachedBytes = sum(serving.map((worker) => worker.cachedBytes))
  const capacityBytes = sum(serving.map((worker) => worker.capacityBytes))
  return {
    cached: bytesText(cachedBytes),
    cacheCapacity: bytesText(capacityBytes),
    // Trailers and second copies count as cached, but nothing is more than wholly cached.
    cachedPercentage: percentText(Math.min(cachedBytes, bytes), bytes),
    ...ratios(reads),
    ufsTotal: inventory.isComplete ? bytesText(bytes) : CALCULATING,
    fileNum: inventory.isComplete ? String(files) : CALCULATING,
    ufsTotalBytes: bytes,
    files,
    isComplete: inventory.isComplete,
    cachedBytes,
    capacityBytes,
    epoch: members.epoch,
    revision: inventory.revision,
    workers,
    mounts: inventory.mounts().map(({ refusedNames: _, ...mount }) => mount),
  }
}

function ratios({
  local,
  remote,
  missed,
  localBytes,
  remoteBytes,
  missedBytes,
}: Reads): Omit<CacheStates, 'cached' | 'cacheCapacity' | 'cachedPercentage'> {
  const [reads, bytes] = [local + remote + missed, localBytes + remoteBytes + missedBytes]
  return {
    cacheHitRatio: percentText(local + remote, reads),
    localHitRatio: percentText(local, reads),
    remoteHitRatio: percentText(remote, reads),
    cacheThroughputRatio: percentText(localBytes + remoteBytes, bytes),
    localThroughputRatio: percentText(localBytes, bytes),
    remoteThroughputRatio: percentText(remoteBytes, bytes),
  }
}

const sum = (numbers: readonly number[] = []): number => numbers.reduce((total, number) => total + number, 0)
