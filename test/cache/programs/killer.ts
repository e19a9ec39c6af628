/**
 * Who dies when: a random program, now and then two at once, sometimes in the middle of its start, and one at a time for so long
 * that the master forgets it. Of a worker that is dead a block is damaged sometimes, as by a machine that lost its power.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../src/base/random.ts'
import type { Program } from './program.ts'

export interface KillerOptions {
  programs: readonly Program[]
  random: Random
  kills: number
  /** It is dead now. */
  onDead(program: Program): Promise<void>
  onStart(): void
}

const LIFE_MS = 800
const TWO_SHARE = 0.1
const START_KILL_SHARE = 0.12
const START_MS = 350
const LONG_SHARE = 0.06
/** A worker is forgotten after 10 s. */
const LONG_MS = [10_500, 13_000] as const
const SHORT_MS = 400

export class Killer {
  readonly counts = { kills: 0, whileStarting: 0, long: 0, byName: new Map<string, number>() }
  readonly #options: KillerOptions
  readonly #returning = new Set<Promise<void>>()
  #isLongTaken = false

  constructor(options: KillerOptions) {
    this.#options = options
  }

  startAll(): void {
    for (const program of this.#options.programs) this.#start(program)
  }

  get isDone(): boolean {
    return this.counts.kills >= this.#options.kills
  }

  /** One moment of violence. */
  async round(): Promise<void> {
    const { random, programs } = this.#options
    await sleep(random.next() * LIFE_MS)
    const up = programs.filter(({ isUp }) => isUp)
    const victims = new Set([this.#pick(up), ...(random.next() < TWO_SHARE ? [this.#pick(up)] : [])])
    await Promise.all([...victims].flatMap((victim) => (victim === undefined ? [] : [this.#strike(victim)])))
  }

  /** Until whoever is down is up again. */
  async settle(): Promise<void> {
    while (this.#returning.size > 0) await Promise.all([...this.#returning])
  }

  async #strike(program: Program): Promise<void> {
    const { random } = this.#options
    await this.#kill(program)
    while (random.next() < START_KILL_SHARE && !this.isDone) {
      this.#start(program)
      await sleep(random.next() * START_MS)
      await this.#kill(program)
      this.counts.whileStarting++
    }
    const isLong = !this.#isLongTaken && program.name !== 'master' && random.next() < LONG_SHARE
    const pauseMs = isLong ? LONG_MS[0] + random.next() * (LONG_MS[1] - LONG_MS[0]) : random.next() * SHORT_MS
    if (isLong) {
      this.#isLongTaken = true
      this.counts.long++
    }
    const back = sleep(pauseMs).then(() => {
      this.#start(program)
      if (isLong) this.#isLongTaken = false
      this.#returning.delete(back)
    })
    this.#returning.add(back)
  }

  async #kill(program: Program): Promise<void> {
    const { counts } = this
    await program.kill()
    counts.kills++
    counts.byName.set(program.name, (counts.byName.get(program.name) ?? 0) + 1)
    await this.#options.onDead(program)
  }

  #start(program: Program): void {
    program.start()
    this.#options.onStart()
  }

  #pick(from: readonly Program[]): Program | undefined {
    return from[Math.floor(this.#options.random.next() * from.length)]
  }
}
