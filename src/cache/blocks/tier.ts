/**
 * How a worker's room for blocks is configured. Levels are ordered from fast to slow; a level has one or more directories, each
 * with a quota of its own that counts every byte of every block file below it, trailers and unfinished files included.
 */
export type Medium = 'MEM' | 'SSD' | 'HDD'

export interface TierPath {
  /** Absolute. Blocks lie in `<directory>/<namespace>/<name>/…`: see `blockFilePath`. */
  directory: string
  quotaBytes: number
}

export interface Tier {
  medium: Medium
  paths: readonly TierPath[]
  /** Share of a quota above which blocks are evicted; default 0.95. */
  high?: number
  /** Share of a quota at which eviction stops; default 0.7. */
  low?: number
}

/** What a tier holds, for heartbeats and reports. */
export interface TierUsage {
  medium: Medium
  quotaBytes: number
  usedBytes: number
  blocks: number
}
