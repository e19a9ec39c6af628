/** Files of a source in the order of its listing, for several who take them; the listing waits when too many are not taken yet. */
import type { Progress } from '../operations/progress.ts'
import type { Source, SourceFile } from '../sources/source.ts'
import type { Tally } from './tally.ts'

export interface Feed {
  /** Lists to the end. Rejects when the listing does. */
  run(): Promise<void>
  /** Undefined: there are no more. */
  next(): Promise<SourceFile | undefined>
  /** Of all files so far; empty unless they are kept. */
  readonly paths: ReadonlySet<string>
}

export interface FeedOptions {
  source: Pick<Source, 'list'>
  progress: Progress
  tally: Tally
  keepsPaths: boolean
  signal: AbortSignal
}

/** Listed ahead, so that totals are known early: some 20 MB. */
const MOST_AHEAD = 50_000

export function createFeed({ source, progress, tally, keepsPaths, signal }: FeedOptions): Feed {
  const paths = new Set<string>()
  let queue: SourceFile[] = []
  let taken = 0
  let isEnded = false
  let wake: (() => void)[] = []
  const wakeAll = (): void => {
    const waiting = wake
    wake = []
    for (const resolve of waiting) resolve()
  }
  const changed = (): Promise<void> => new Promise((resolve) => wake.push(resolve))
  signal.addEventListener('abort', wakeAll, { once: true })

  function add(files: readonly SourceFile[]): void {
    for (const file of files) {
      queue.push(file)
      progress.filesTotal++
      progress.bytesTotal += file.size
      if (keepsPaths) paths.add(file.path)
    }
    wakeAll()
  }

  return {
    paths,
    async run() {
      try {
        let cursor: string | undefined
        do {
          const page = await source.list(cursor, signal)
          tally.refused(page.refused ?? [], page.refusedCount ?? page.refused?.length ?? 0)
          add(page.files)
          cursor = page.cursor
          while (queue.length - taken > MOST_AHEAD && !signal.aborted) await changed()
        } while (cursor !== undefined && !signal.aborted)
        progress.isTotalKnown = true
      } finally {
        isEnded = true
        signal.removeEventListener('abort', wakeAll)
        wakeAll()
      }
    },
    async next() {
      while (taken >= queue.length && !isEnded && !signal.aborted) await changed()
      if (signal.aborted) return undefined
      const file = queue[taken]
      if (file === undefined) return undefined
      taken++
      // What was taken is let go in one piece, now and then.
      if (taken >= MOST_AHEAD) {
        queue = queue.slice(taken)
        taken = 0
        wakeAll()
      }
      return file
    },
  }
}
