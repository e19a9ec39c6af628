/** What somebody says about their progress, shown at most every few seconds: each change costs a write of the pods that wait. */
import type { Clock } from '../../../base/clock.ts'

/** Between two changes of what is shown. */
const PROGRESS_MS = 5000
const MAX_LENGTH = 200

export interface Progress {
  /** What is shown; undefined: nothing was said. */
  readonly message: string | undefined
  say(message: string): void
  /** It has ended. */
  clear(): void
}

export function createProgress(clock: Clock, onChange: () => void): Progress {
  let shown: string | undefined
  let latest: string | undefined
  let notBeforeMs = 0
  let cancel: (() => void) | undefined

  function show(): void {
    cancel = undefined
    if (shown === latest) return
    shown = latest
    notBeforeMs = clock.now() + PROGRESS_MS
    onChange()
  }

  return {
    get message() {
      return shown
    },
    say(message) {
      latest = message.replace(/\p{Cc}+/gu, ' ').slice(0, MAX_LENGTH)
      if (cancel !== undefined || latest === shown) return
      const waitMs = notBeforeMs - clock.now()
      if (waitMs <= 0) show()
      else cancel = clock.after(waitMs, show)
    },
    clear() {
      cancel?.()
      cancel = undefined
      latest = undefined
      shown = undefined
      notBeforeMs = 0
    },
  }
}
