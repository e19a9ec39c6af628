/** Stories that `sluice up` tells, by name: from the running process to the last line. */
import pc from 'picocolors'
import { createClient } from '../../client/client.ts'
import { inThisProcess } from '../../controllers.ts'
import type { DataDir } from '../data-dir.ts'
import { CommandError, type Machine } from '../machine.ts'
import type { Running } from '../serve.ts'
import { fleetStory } from './fleet.ts'
import { openEyes } from './sight.ts'
import { StoryError, tell } from './tell.ts'
import { lineOf, nextText, titleOf } from './text.ts'

/** A step on a busy machine may take its time; the story does not. */
const PATIENCE_MS = 120_000

export interface StoryOptions {
  machine: Machine
  dir: DataDir
  /** As it was given; for commands that are printed. */
  dataDir: string | undefined
  running: Running
  /** Whether Sluice stays up afterwards. */
  stays: boolean
  signal: AbortSignal
}

/** Throws what went wrong in words; returns when it was told, or ended from outside. */
export async function tellFleetStory({ machine, dir, dataDir, running, stays, signal }: StoryOptions): Promise<void> {
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
  try {
    machine.out(`\n${titleOf(colour)}`)
    const eyes = await openEyes({ hub: hub.client, members, clock, random, signal: either })
    const steps = fleetStory({ hub: hub.client, members, stop: running.members.stop, start: running.members.start })
    const isTold = await tell(steps, {
      eyes,
      clock,
      patienceMs: PATIENCE_MS,
      signal: either,
      say: (told, afterMs) => machine.out(lineOf(told, afterMs, colour)),
    })
    if (isTold) machine.out(stays ? nextText(colour, { kubeconfig: dir.kubeconfig, dataDir }) : '\nThe story was told to its end.\n')
  } catch (error) {
    if (error instanceof StoryError) throw new CommandError(`the story ended early: ${error.message}`, error)
    throw error
  } finally {
    ending.abort()
    for (const { client } of clients) await client.close()
  }
}
