/**
 * Who dies when: a program of the cache or Sluice itself, at random moments, Sluice also in the middle of its start, and programs
 * also while it is down. A pod whose container is restarted only after a long pause is deleted, as an impatient user would do it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../src/base/random.ts'
import type { Pod } from '../../../src/kinds/kubernetes/types.ts'
import { type CacheProgram, cachePrograms, killProgram, type Role } from './cache-programs.ts'
import { CORE } from './manifests.ts'
import type { MemberApi } from './member-api.ts'
import type { SluiceProcess } from './sluice-process.ts'

export type Victim = Role | 'Sluice'

export interface KillerOptions {
  sluice: SluiceProcess
  dataDir: string
  api: MemberApi
  random: Random
  kills: number
  /** It is dead now. */
  onDead(program: CacheProgram): void
  /** How many pods have read to their end. */
  readings(): number
}

const LIFE_MS = 1200
/** On a slow machine nobody would come to an end otherwise: so many kills per pod that has read, and so many ahead of them. */
const KILLS_PER_READING = 4
const KILLS_AHEAD = 8
const SLUICE_SHARE = 0.22
/** Of the kills that hit a program. */
const ROLES: readonly (readonly [Role, number])[] = [
  ['master', 0.25],
  ['worker', 0.45],
  ['client', 0.3],
]
const START_KILL_SHARE = 0.25
const WHILE_DOWN_SHARE = 0.35
const DOWN_MS = 1500
const START_MS = 2000
/** Restarts after which the next pause is too long for a proof: the second is 10 s, then 20 s, then 40 s. */
const MOST_RESTARTS = 3

export class SluiceKiller {
  readonly counts = { kills: 0, whileStarting: 0, whileDown: 0, deletedPods: 0, byVictim: new Map<Victim, number>() }
  readonly #options: KillerOptions

  constructor(options: KillerOptions) {
    this.#options = options
  }

  get isDone(): boolean {
    return this.counts.kills >= this.#options.kills
  }

  /** Whether there were so many kills since pods last came to their end that some of them must first. */
  get isAhead(): boolean {
    return this.counts.kills >= KILLS_AHEAD + this.#options.readings() * KILLS_PER_READING
  }

  /** One moment of violence. Sluice is up afterwards. */
  async round(): Promise<void> {
    const { random } = this.#options
    await sleep(random.next() * LIFE_MS)
    if (random.next() < SLUICE_SHARE) await this.#killSluice()
    else await this.#killProgram()
  }

  /** Pods that would pause for long are deleted. */
  async mend(): Promise<void> {
    const { api } = this.#options
    for (const { metadata, status } of await api.list<Pod>(`${CORE}/pods`)) {
      const [container] = status?.containerStatuses ?? []
      if (metadata.deletionTimestamp !== undefined || container?.state?.waiting?.reason !== 'CrashLoopBackOff') continue
      if ((container.restartCount ?? 0) < MOST_RESTARTS - 1) continue
      await api.delete(`${CORE}/pods/${metadata.name}`, 0)
      this.counts.deletedPods++
    }
  }

  async #killProgram(): Promise<boolean> {
    const { dataDir, random, onDead } = this.#options
    const all = cachePrograms(dataDir)
    const role = pickRole(random)
    const some = all.filter((program) => program.role === role)
    const victim = some[Math.floor(random.next() * some.length)]
    if (victim === undefined || !(await killProgram(victim))) return false
    this.#count(victim.role)
    onDead(victim)
    return true
  }

  async #killSluice(): Promise<void> {
    const { sluice, random } = this.#options
    await sluice.kill()
    this.#count('Sluice')
    while (random.next() < START_KILL_SHARE && !this.isDone) {
      const started = sluice.start()
      await sleep(random.next() * START_MS)
      await sluice.kill()
      await started
      this.#count('Sluice')
      this.counts.whileStarting++
    }
    while (random.next() < WHILE_DOWN_SHARE && !this.isDone && (await this.#killProgram())) this.counts.whileDown++
    await sleep(random.next() * DOWN_MS)
    await sluice.start()
  }

  #count(victim: Victim): void {
    this.counts.kills++
    this.counts.byVictim.set(victim, (this.counts.byVictim.get(victim) ?? 0) + 1)
  }
}

function pickRole(random: Random): Role {
  let left = random.next()
  for (const [role, share] of ROLES) {
    left -= share
    if (left < 0) return role
  }
  return 'worker'
}
