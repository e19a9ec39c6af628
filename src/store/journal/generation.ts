/** Writing a whole generation at once: for a new directory, a restored backup, or what a repair could save. */
import { createJournal, createSafely, journalName, type Location, listGenerations, removeIfThere, snapshotName } from './directory.ts'
import { type CapturedCluster, snapshotFrames } from './snapshot.ts'
import { StoreRefusedError } from './store-error.ts'

export interface GenerationContent {
  generation: number
  clusters: readonly CapturedCluster[]
  /** Milliseconds since the epoch. */
  now: number
}

/** A snapshot and the empty journal that follows it. The journal is created first, as in a running store. */
export async function writeGeneration(location: Location, content: GenerationContent): Promise<void> {
  const journal = await createJournal(location, content.generation, content.now)
  await journal.file.close()
  await writeSnapshot(location, content, () => {})
}

/** `beforeFrame` may throw to abort. */
export async function writeSnapshot(location: Location, content: GenerationContent, beforeFrame: () => void): Promise<void> {
  const { generation, clusters, now } = content
  const { file } = await createSafely(location, snapshotName(generation), async (target) => {
    let size = 0
    for (const frame of snapshotFrames(clusters, { generation, takenAt: now })) {
      beforeFrame()
      await target.write(frame, size)
      size += frame.length
    }
    return size
  })
  await file.close()
}

/**
 * Removes what a start or a restore left when it was interrupted before it wrote FORMAT: nothing in it was ever acknowledged.
 * Anything beyond that is somebody's data without its FORMAT file, and is not touched.
 */
export async function removeUnfinished(location: Location): Promise<void> {
  const { snapshots, journals, leftovers } = await listGenerations(location)
  if ([...snapshots, ...journals].some((generation) => generation !== 1)) {
    throw new StoreRefusedError(
      'E_STORE_DAMAGED',
      `${location.dir} holds journals but no FORMAT file, so something else than Sluice was at work there. Put the file back (it holds the line "1"), or restore a backup into a new directory with \`sluice restore FILE --data-dir NEW\`.`,
    )
  }
  for (const name of [...leftovers, snapshotName(1), journalName(1)]) await removeIfThere(location, name)
}
