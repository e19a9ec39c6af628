/** Writing a whole generation at once: for a new directory, a restored backup, or what a repair could keep. */
import { createJournal, createSafely, type Location, snapshotName } from './directory.ts'
import { type CapturedCluster, snapshotFrames } from './snapshot.ts'

export interface GenerationContent {
  generation: number
  clusters: readonly CapturedCluster[]
  /** Milliseconds since the epoch. */
  now: number
}

/** A snapshot and the empty journal behind it. The journal comes first, as in a running store. */
export async function writeGeneration(location: Location, content: GenerationContent): Promise<void> {
  const journal = await createJournal(location, content.generation, content.now)
  await journal.file.close()
  await writeSnapshot(location, content, () => {})
}

/** `beforeFrame` may throw to give up. */
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
