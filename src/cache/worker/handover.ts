/**
 * A worker that leaves sends its blocks to their new owners, the hottest first. A block that somebody has taken, or that nobody has
 * room for, is removed here, so what is still here is what is left: asked again, or after a restart, it goes on where it was.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import type { BlockStore } from '../blocks/store.ts'
import type { Members } from './members.ts'
import type { Amount, HandoverReport, WorkerLimits } from './options.ts'
import type { Peers } from './peers.ts'

export interface HandoverOptions {
  store: BlockStore
  members: Members
  peers: Peers
  replicas: number
  limits: Pick<WorkerLimits, 'handovers' | 'handoverPasses' | 'handoverPauseMs'>
  clock: Clock
  log: Log
  signal: AbortSignal
  onChange: () => void
}

type Held = ReturnType<BlockStore['byHeat']>[number]

export class Handover {
  readonly #options: HandoverOptions
  readonly #moved: Amount = { blocks: 0, bytes: 0 }
  readonly #dropped: Amount = { blocks: 0, bytes: 0 }
  #state: HandoverReport['state'] = 'serving'
  #running: Promise<void> | undefined
  /** Of the passes that run now, or ran last. */
  #stopped = new AbortController()

  constructor(options: HandoverOptions) {
    this.#options = options
  }

  get state(): HandoverReport['state'] {
    return this.#state
  }

  report(): HandoverReport {
    const left = { blocks: 0, bytes: 0 }
    if (this.#state !== 'serving') for (const held of this.#options.store.byHeat()) count(left, held)
    return { state: this.#state, moved: { ...this.#moved }, dropped: { ...this.#dropped }, left }
  }

  /** Does nothing while it runs. */
  start(): void {
    if (this.#running !== undefined || this.#state === 'gone') return
    this.#state = 'leaving'
    this.#stopped = new AbortController()
    this.#options.onChange()
    this.#running = this.#run(this.#stopped.signal).finally(() => {
      this.#running = undefined
    })
  }

  /** It serves again, with what it still has; what was handed over comes back from the new owners as it is asked for. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#running
    this.#state = 'serving'
    this.#options.onChange()
  }

  /** Until the passes that were started have ended. */
  async idle(): Promise<void> {
    await this.#running
  }

  async #run(stopped: AbortSignal): Promise<void> {
    const { limits, clock, store, log, onChange } = this.#options
    const signal = AbortSignal.any([this.#options.signal, stopped])
    for (let pass = 0; pass < limits.handoverPasses && !signal.aborted; pass++) {
      if (pass > 0) await sleep(clock, limits.handoverPauseMs, signal)
      const queue = store.byHeat().values()
      const send = async () => {
        for (const held of queue) {
          if (signal.aborted) return
          await this.#handOver(held)
        }
      }
      await Promise.all(Array.from({ length: limits.handovers }, send))
      if (store.size === 0) break
    }
    if (store.size === 0 && !stopped.aborted) this.#state = 'gone'
    log.write('info', 'blocks were handed over', { moved: this.#moved.blocks, dropped: this.#dropped.blocks, left: store.size })
    onChange()
  }

  /** What cannot be sent stays, for the next pass. */
  async #handOver(held: Held): Promise<void> {
    const { store, members, peers, replicas, log } = this.#options
    const owners = members.ownersOf(held.key, replicas)
    if (owners.length === 0) return
    let isTaken = false
    try {
      for (const { address } of owners) {
        const reader = await store.read(held.key)
        // Damaged, or gone meanwhile: there is nothing to hand over.
        if (reader === undefined) return
        try {
          isTaken = (await peers.put(address, { key: held.key, reader, heat: held.heat })) || isTaken
        } finally {
          await reader.close()
        }
      }
    } catch (error) {
      log.write('debug', 'a block cannot be handed over yet', { error: messageOf(error) })
      if (!isTaken) return
    }
    await store.remove(held.key)
    count(isTaken ? this.#moved : this.#dropped, held)
  }
}

function count(amount: Amount, { bytes }: Held): void {
  amount.blocks++
  amount.bytes += bytes
}
