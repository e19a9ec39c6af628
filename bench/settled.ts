/** Waiting until processes have nothing left to do. */
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMs } from './processes.ts'

const LOOK_MS = 5000
/** A process that takes less than this part of a core is idle. */
const IDLE_SHARE = 10

/** Resolves when they have been nearly idle for a while. */
export async function settled(pids: () => readonly number[]): Promise<void> {
  for (;;) {
    const before = cpuMs(pids())
    await sleep(LOOK_MS)
    if (cpuMs(pids()) - before < LOOK_MS / IDLE_SHARE) return
  }
}
