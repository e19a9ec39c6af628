/**
 * Work of CSI drivers that may take long. An effect is bounded in time, and a volume may need hours to be filled: so a job goes
 * on while effects join it, one after another, each for a while. It is aborted when the effect that follows it is, and when
 * what it does is to be undone.
 */
import { type Clock, sleep } from '../../../base/clock.ts'

/** How long one effect follows a job. */
const SLICE_MS = 60_000

export interface Jobs {
  /** Begins the job, or joins it; resolves to whether it has ended. Rejects as the job does. */
  join(id: string, signal: AbortSignal, begin: (signal: AbortSignal) => Promise<void>): Promise<boolean>
  /** Waits for the end of a job, however it ends. */
  settled(id: string): Promise<void>
  /** Aborts a job and waits for its end, however it ends. */
  end(id: string): Promise<void>
}

interface Job {
  abort: AbortController
  done: Promise<void>
}

export function createJobs(clock: Clock): Jobs {
  const jobs = new Map<string, Job>()

  function begun(id: string, begin: (signal: AbortSignal) => Promise<void>): Job {
    const abort = new AbortController()
    const job: Job = {
      abort,
      done: begin(abort.signal).finally(() => {
        if (jobs.get(id) === job) jobs.delete(id)
      }),
    }
    // Nobody may be following at the moment when it fails.
    job.done.catch(() => undefined)
    jobs.set(id, job)
    return job
  }

  const settled = async (id: string): Promise<void> => jobs.get(id)?.done.catch(() => undefined)

  return {
    async join(id, signal, begin) {
      if (signal.aborted) throw signal.reason
      const job = jobs.get(id) ?? begun(id, begin)
      const onAbort = (): void => job.abort.abort(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      const awake = new AbortController()
      let hasEnded = false
      try {
        await Promise.race([
          job.done.then(() => {
            hasEnded = true
          }),
          sleep(clock, SLICE_MS, awake.signal),
        ])
        return hasEnded
      } finally {
        awake.abort()
        signal.removeEventListener('abort', onAbort)
      }
    },
    settled,
    async end(id) {
      jobs.get(id)?.abort.abort(new Error('it is no longer wanted'))
      await settled(id)
    },
  }
}
