/** Removes what the target has and the source does not. Not when it is unsure what the source has. */
import type { Target } from '../targets/target.ts'
import { Clash, TargetRefused } from '../targets/target.ts'
import type { Tally } from './tally.ts'

export interface Removing {
  target: Target
  tally: Tally
  /** The source has it. */
  isOurs(path: string): boolean
  signal: AbortSignal
}

/** Names that are held before they are removed: a listing is not changed while it is read. */
const MOST_AT_ONCE = 1000

export async function removeOthers({ target, tally, isOurs, signal }: Removing): Promise<void> {
  const { copied, skipped, failed, leftOut } = tally.result()
  // A listing that leaves out a directory, or finds nothing at all, says nothing about what is to go.
  if (failed + leftOut > 0) throw new TargetRefused('nothing was removed, because not everything of the source could be copied')
  if (copied + skipped === 0) throw new TargetRefused('nothing was removed, because the source has no files')
  for (let isMore = true; isMore; ) {
    const others: string[] = []
    for await (const path of target.paths(signal)) {
      signal.throwIfAborted()
      if (isOurs(path)) continue
      others.push(path)
      if (others.length >= MOST_AT_ONCE) break
    }
    const before = tally.result().removed
    for (const path of others) {
      signal.throwIfAborted()
      await removeOne(target, path, { tally, signal })
    }
    isMore = others.length >= MOST_AT_ONCE && tally.result().removed > before
  }
}

/** A path through a link is another name of a file that is looked at by itself. */
async function removeOne(target: Target, path: string, { tally, signal }: { tally: Tally; signal: AbortSignal }): Promise<void> {
  try {
    await target.remove(path, signal)
    tally.removed()
  } catch (error) {
    if (!(error instanceof Clash)) throw error
  }
}
