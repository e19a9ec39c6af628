/** Holds processes still for a look at their files. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { signalIfThere } from './signal-if-there.ts'

const STILL_MS = 2000

/** Calls `work` while no thread of these processes moves; those that are gone do not count. Undefined: one cannot be held still. */
export async function holdStill<T>(pids: readonly number[], work: () => T): Promise<T | undefined> {
  for (const pid of pids) signalIfThere(pid, 'SIGSTOP')
  try {
    for (const untilMs = performance.now() + STILL_MS; performance.now() < untilMs; await sleep(1))
      if (pids.every((pid) => !signalIfThere(pid, 0) || areThreadsStopped(pid))) return work()
    return undefined
  } finally {
    for (const pid of pids) signalIfThere(pid, 'SIGCONT')
  }
}

function areThreadsStopped(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1')
      return /^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
    })
  } catch {
    // A thread ended just now: looked at again.
    return false
  }
}
