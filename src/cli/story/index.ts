/** Plays the stories of `sluice up`, by name: from the running process to the last line. */
import pc from 'picocolors'
import { createClient } from '../../client/client.ts'
import { inThisProcess } from '../../composition.ts'
import { type Chapter, type StoryLine, StoryRefused } from '../../runtime/seams/story.ts'
import type { DataDir } from '../data-dir.ts'
import { CommandError, type Machine } from '../machine.ts'
import type { Running } from '../serve.ts'
import { playSteps, StoryError } from './play.ts'
import { lineOf, nextText, titleOf } from './text.ts'

/** A step may be slow on a busy machine, but not without limit. */
const PATIENCE_MS = 120_000

export interface StoryOptions {
  machine: Machine
  dir: DataDir
  /** As given; for the commands that are printed. */
  dataDir: string | undefined
  running: Running
  /** Whether Sluice stays up afterwards. */
  stays: boolean
  signal: AbortSignal
}

/** Throws a readable error; returns when all were played, or when interrupted. */
export async function playStories(chapters: readonly Chapter[], options: StoryOptions): Promise<void> {
  const { machine, dir, dataDir, running, stays, signal } = options
  const { clock, random } = machine
  const colour = machine.isTerminal ? pc : pc.createColors(false)
  const clients = running.clusters.map(({ name, cluster }) => ({
    name,
    client: createClient({ transport: inThisProcess(cluster), clock, random, userAgent: 'sluice/story' }),
  }))
  const [hub, ...members] = clients
  if (hub === undefined) return
  const ending = new AbortController()
  const either = AbortSignal.any([signal, ending.signal])
  const { stop, start } = running.members
  const env = { hub: hub.client, members, clock, random, signal: either, stop, start }
  const say = (line: StoryLine, afterMs: number): void => machine.out(lineOf(line, afterMs, colour))
  try {
    for (const chapter of chapters) {
      machine.out(`\n${titleOf(chapter.title, colour)}`)
      if (!(await playSteps(await chapter.open(env), { clock, patienceMs: PATIENCE_MS, signal: either, say }))) return
    }
    const next = chapters.flatMap((chapter) => chapter.next({ dataDir }))
    machine.out(stays ? nextText(colour, dir.kubeconfig, next) : '\nThe story was told to its end.\n')
  } catch (error) {
    if (error instanceof StoryRefused) throw new CommandError(error.message, error)
    if (error instanceof StoryError) throw new CommandError(`the story ended early: ${error.message}`, error)
    throw error
  } finally {
    ending.abort()
    for (const { client } of clients) await client.close()
  }
}
