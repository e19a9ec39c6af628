/** The watches of one server: their number, its limit, and a way to end them all. */
export interface WatchRegistry {
  readonly open: number
  /** Whether one more may start. */
  admit(): boolean
  /** Registers a running watch; returns a function that removes it. */
  opened(stop: () => void): () => void
  closeAll(): void
}

export function createWatchRegistry(limit: number): WatchRegistry {
  const stops = new Set<() => void>()
  return {
    get open() {
      return stops.size
    },
    admit: () => stops.size < limit,
    opened(stop) {
      stops.add(stop)
      return () => stops.delete(stop)
    },
    closeAll() {
      for (const stop of [...stops]) stop()
    },
  }
}
