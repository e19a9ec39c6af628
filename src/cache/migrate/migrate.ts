/**
 * Copies the files of a source to a target: those that are there already and are the same are skipped, so a migration that was
 * killed goes on where it was, at the cost of the files that were under way. Files flow from the listing to a few copiers; what is
 * held is bounded. A file that cannot be copied does not stop the others; a target that cannot be written does.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import type { Progress } from '../operations/progress.ts'
import { showName } from '../sources/clean-path.ts'
import { type Source, SourceChanged, type SourceFile, SourceRefused } from '../sources/source.ts'
import { Clash, type Target, TargetRefused } from '../targets/target.ts'
import { createFeed, type Feed } from './feed.ts'
import { removeOthers } from './remove-others.ts'
import { type MigrateResult, Tally } from './tally.ts'

export interface MigrateOptions {
  source: Source
  target: Target
  /** Files that are copied at the same time. */
  parallelism: number
  /** Files of the target that the source does not have are removed, when everything else has worked. */
  removesOthers: boolean
  progress: Progress
  clock: Clock
  log: Log
  signal: AbortSignal
}

const TRIES = 4
const PAUSE_MS = 1000

/** Rejects when nothing can be done at all: with SourceRefused, TargetRefused, or why the listing broke off. */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const { source, target, parallelism, progress, log, signal } = options
  const tally = new Tally()
  const ended = new AbortController()
  const stop = (): void => ended.abort(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    progress.step = 'preparing'
    await target.begin(ended.signal)
    progress.step = 'copying'
    const feed = createFeed({ source, progress, tally, keepsPaths: options.removesOthers, signal: ended.signal })
    await firstFailure(ended, [
      feed.run(),
      ...Array.from({ length: parallelism }, () => copyAll({ ...options, signal: ended.signal }, feed, tally)),
    ])
    signal.throwIfAborted()
    if (options.removesOthers) {
      progress.step = 'removing'
      await removeOthers({ target, tally, isOurs: (path) => feed.paths.has(path), signal })
    }
    progress.step = 'ending'
  } catch (error) {
    await target.end().catch((reason: unknown) => log.write('warn', 'something was left in the target', { reason: messageOf(reason) }))
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
  await target.end()
  return tally.result()
}

/** All have ended; if one failed, the others were stopped, and what it said counts. */
async function firstFailure(ended: AbortController, works: readonly Promise<void>[]): Promise<void> {
  let failure: { reason: unknown } | undefined
  await Promise.all(
    works.map((work) =>
      work.catch((reason: unknown) => {
        failure ??= { reason }
        ended.abort(reason)
      }),
    ),
  )
  if (failure !== undefined) throw failure.reason
}

async function copyAll(options: MigrateOptions, feed: Feed, tally: Tally): Promise<void> {
  for (let file = await feed.next(); file !== undefined; file = await feed.next()) {
    if (options.signal.aborted) return
    await copyOne(options, file, tally)
  }
}

/** Tries again what may be different the next time. Rejects only with what concerns every file. */
async function copyOne(options: MigrateOptions, listed: SourceFile, tally: Tally): Promise<void> {
  const { progress, clock, signal } = options
  let file: SourceFile | undefined = listed
  for (let attempt = 1; file !== undefined; attempt++) {
    const moved = { bytes: 0 }
    try {
      await copyOrSkip(options, { file, moved }, tally)
      progress.filesDone++
      return
    } catch (error) {
      // What was counted of it is to be done again.
      progress.bytesDone -= moved.bytes
      if (signal.aborted || error instanceof TargetRefused || error instanceof SourceRefused) throw error
      if (await isSettled(options, { file, error, isLast: attempt >= TRIES }, tally)) return
      progress.message = messageOf(error)
      file = await asItIsNow(options, file, error)
      await sleep(clock, PAUSE_MS * (attempt - 1), signal)
    }
  }
  tally.vanished()
}

interface Copied {
  file: SourceFile
  moved: { bytes: number }
}

async function copyOrSkip({ source, target, progress, signal }: MigrateOptions, { file, moved }: Copied, tally: Tally): Promise<void> {
  const onBytes = (bytes: number): void => {
    moved.bytes += bytes
    progress.moved(bytes)
  }
  if (await target.has(file, signal)) {
    progress.bytesDone += file.size
    tally.skipped(file.size)
    return
  }
  await target.write({ file, from: source, onBytes }, signal)
  tally.copied(file.size)
}

interface Failed {
  file: SourceFile
  error: unknown
  isLast: boolean
}

/**
 * True: nothing more is tried. A source like S3 may have a file and files below it as if it were a directory: then the directory is
 * kept, as readers of a dataset see it. What only the target has is not ours to remove.
 */
async function isSettled({ source, target, log, signal }: MigrateOptions, { file, error, isLast }: Failed, tally: Tally): Promise<boolean> {
  const reason = messageOf(error)
  if (error instanceof Clash && error.is === 'file' && !isLast && (await source.stat(error.path, signal)) !== undefined) {
    await target.remove(error.path, signal)
    tally.leftOut(error.path)
    return false
  }
  if (error instanceof Clash) tally.leftOut(file.path, reason)
  else if (isLast) tally.failed(file.path, reason)
  else return false
  log.write('warn', 'a file was not copied', { file: showName(file.path), reason })
  return true
}

/** Undefined: it is gone. */
async function asItIsNow({ source, progress, signal }: MigrateOptions, file: SourceFile, error: unknown): Promise<SourceFile | undefined> {
  if (!(error instanceof SourceChanged)) return file
  const now = await source.stat(file.path, signal)
  progress.bytesTotal += (now?.size ?? 0) - file.size
  return now
}
