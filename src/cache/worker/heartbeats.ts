/** Tells the master what this worker has, every two seconds and when its state changes; each answer says who the workers are. */
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import type { Membership } from '../protocol/membership.ts'
import type { Heartbeat, MasterLink } from './options.ts'
import { cleaned } from './source-refusal.ts'

export interface HeartbeatsOptions {
  master: MasterLink
  clock: Clock
  log: Log
  everyMs: number
  signal: AbortSignal
  beat: () => Heartbeat
  onMembership: (membership: Membership) => void
}

export class Heartbeats {
  readonly #options: HeartbeatsOptions
  #cancel: () => void = () => undefined
  #isBeating = false
  #isDue = false
  #hasFailed = false

  constructor(options: HeartbeatsOptions) {
    this.#options = options
  }

  /** At once; when one is under way, another one after it. */
  beat(): void {
    const { signal, clock, everyMs } = this.#options
    if (signal.aborted) return
    this.#isDue = this.#isBeating
    if (this.#isBeating) return
    this.#isBeating = true
    this.#cancel()
    void this.#send().then(() => {
      this.#isBeating = false
      if (this.#isDue) this.beat()
      else if (!signal.aborted) this.#cancel = clock.after(everyMs, () => this.beat())
    })
  }

  stop(): void {
    this.#cancel()
  }

  /** Never rejects. The first failure of a row is logged, and the end of the row. */
  async #send(): Promise<void> {
    const { master, log, signal, beat, onMembership } = this.#options
    try {
      const membership = await master.heartbeat(beat(), signal)
      if (signal.aborted) return
      onMembership(membership)
      if (this.#hasFailed) log.write('info', 'the master answers again')
      this.#hasFailed = false
    } catch (error) {
      if (!this.#hasFailed && !signal.aborted) log.write('warn', 'the master does not answer', { error: cleaned(messageOf(error)) })
      this.#hasFailed = true
    }
  }
}
