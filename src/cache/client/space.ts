/**
 * Room on the node's disk, reserved before anything is copied: volumes that fill at the same time do not count the same bytes
 * twice. What is reserved shrinks as bytes are written, because then the disk itself counts them.
 */
import { bytesText } from '../master/report.ts'

export interface Space {
  /** Throws NoSpace. */
  reserve(bytes: number): Reservation
}

export interface Reservation {
  written(bytes: number): void
  release(): void
}

/** Not an error: a wait, until somebody makes room. */
class NoSpace extends Error {
  override readonly name = 'NoSpace'
}

/** Others live on this disk too. */
const SPARE_BYTES = 64 * 1024 * 1024

/** What a file takes on disk. */
export const onDisk = (bytes: number): number => Math.ceil(bytes / 4096) * 4096 + 512

export interface SpaceOptions {
  freeBytes(): number
  /** Most bytes of all materialised files, and how many there are. */
  quota?: { bytes: number; used(): number }
}

export function createSpace({ freeBytes, quota }: SpaceOptions): Space {
  const held = new Set<{ left: number }>()
  const reserved = (): number => [...held].reduce((sum, { left }) => sum + left, 0)
  return {
    reserve(bytes) {
      const free = freeBytes() - SPARE_BYTES - reserved()
      if (bytes > free)
        throw new NoSpace(`needs ${bytesText(bytes)}, but the node's disk has ${bytesText(Math.max(0, free))} left: make room there`)
      const allowed = quota === undefined ? Number.POSITIVE_INFINITY : quota.bytes - quota.used() - reserved()
      if (bytes > allowed)
        throw new NoSpace(`needs ${bytesText(bytes)}, but option nodeQuota leaves ${bytesText(Math.max(0, allowed))}: raise it`)
      const own = { left: bytes }
      held.add(own)
      return {
        written(count) {
          own.left = Math.max(0, own.left - count)
        },
        release: () => held.delete(own),
      }
    },
  }
}
