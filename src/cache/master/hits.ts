/**
 * How many reads of the last minute the cache answered, from counters that workers report and that begin at 0 with each of their
 * starts. Local: block files that clients read on their own node; remote: from a worker's tier; the rest had to be fetched.
 */
import type { Beat } from './beat.ts'

const WINDOW_MS = 60_000
/** Heartbeats come every 2 s and on change; samples are kept at most this dense. */
const SAMPLE_MS = 1000
const COUNTED = ['directUses', 'hits', 'misses', 'hitBytes', 'missBytes'] as const
type Counts = Record<(typeof COUNTED)[number], number>

export interface Reads {
  local: number
  remote: number
  missed: number
  localBytes: number
  remoteBytes: number
  missedBytes: number
}

export interface HitWindow {
  note(beat: Beat, nowMs: number): void
  /** `blockBytes`: what a direct use counts for, because clients report blocks alone. */
  reads(nowMs: number, blockBytes: number): Reads
}

interface Sample {
  atMs: number
  /** Since the first heartbeat that was seen, over restarts of the worker. */
  total: Counts
}

interface Track {
  last: Counts
  samples: Sample[]
}

const zero = (): Counts => ({ directUses: 0, hits: 0, misses: 0, hitBytes: 0, missBytes: 0 })

export function createHitWindow(): HitWindow {
  const tracks = new Map<string, Track>()
  return {
    note({ name, counters }, nowMs) {
      const now = zero()
      for (const key of COUNTED) now[key] = counters.get(key) ?? 0
      const track = tracks.get(name) ?? { last: now, samples: [{ atMs: nowMs, total: zero() }] }
      tracks.set(name, track)
      const total = { ...(track.samples.at(-1)?.total ?? zero()) }
      // A counter that fell began anew.
      for (const key of COUNTED) total[key] += now[key] >= track.last[key] ? now[key] - track.last[key] : now[key]
      track.last = now
      const [newest, before] = [track.samples.at(-1), track.samples.at(-2)]
      if (newest !== undefined && before !== undefined && newest.atMs - before.atMs < SAMPLE_MS) track.samples.pop()
      track.samples.push({ atMs: nowMs, total })
      // The newest that is old enough is where the window begins.
      while ((track.samples[1]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs - WINDOW_MS) track.samples.shift()
    },
    reads(nowMs, blockBytes) {
      const sum = zero()
      for (const [name, { samples }] of tracks) {
        const newest = samples.at(-1)
        if (newest === undefined || newest.atMs <= nowMs - WINDOW_MS) {
          tracks.delete(name)
          continue
        }
        const start = samples.findLast(({ atMs }) => atMs <= nowMs - WINDOW_MS) ?? samples[0]
        for (const key of COUNTED) sum[key] += newest.total[key] - (start?.total[key] ?? 0)
      }
      return {
        local: sum.directUses,
        remote: sum.hits,
        missed: sum.misses,
        localBytes: sum.directUses * blockBytes,
        remoteBytes: sum.hitBytes,
        missedBytes: sum.missBytes,
      }
    },
  }
}
