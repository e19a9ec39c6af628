/**
 * Keeps certificates fresh while the server runs: checks again when something is due for renewal, and at least once a day
 * (timers cannot exceed 24 days, and a sleeping laptop wakes up late). A failed renewal is reported and retried
 * after an hour; a third of the certificate's lifetime is left for that.
 */
import type { Clock } from '../../base/clock.ts'
import { ensurePki, type Pki, type PkiOptions } from './pki.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const RETRY_MS = 60 * 60 * 1000

export interface RotationOptions extends PkiOptions {
  /** What is in use now. */
  current: Pki
  /** New material is on disk: put it to use (listeners swap their TLS context, kubeconfigs are rewritten). */
  onRenewed(pki: Pki): void
  onError(error: unknown): void
}

/** Starts checking; the returned function stops it. */
export function keepPkiFresh(options: RotationOptions): () => void {
  const { clock } = options
  let current = options.current
  let isStopped = false
  let cancel = wait(clock, current.renewAtMs - clock.now(), look)

  function look(): void {
    if (clock.now() < current.renewAtMs) {
      cancel = wait(clock, current.renewAtMs - clock.now(), look)
      return
    }
    ensurePki(options).then(
      (renewed) => {
        if (isStopped) return
        current = renewed
        options.onRenewed(renewed)
        cancel = wait(clock, current.renewAtMs - clock.now(), look)
      },
      (error: unknown) => {
        if (isStopped) return
        options.onError(error)
        cancel = wait(clock, RETRY_MS, look)
      },
    )
  }

  return () => {
    isStopped = true
    cancel()
  }
}

function wait(clock: Clock, delayMs: number, callback: () => void): () => void {
  return clock.after(Math.min(Math.max(delayMs, 1000), DAY_MS), callback)
}
