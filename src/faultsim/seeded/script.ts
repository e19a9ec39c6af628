/**
 * A seed, written out: what users write and when, and what goes wrong. A script is data: it can be run again, shrunk and
 * kept in a file. What users do is drawn from the seed before anything runs, so that faults do not change it.
 */
import { type Random, seededRandom } from '../../base/random.ts'
import type { Generator } from '../../runtime/seams/seeded.ts'
import type { EffectFault } from '../world/effects.ts'
import type { ProcessFault } from '../world/process.ts'
import type { SeededWorld } from './seeded-world.ts'

export interface Step {
  cluster: string
  /** Name of the generator. */
  thing: string
  name: string
  /** The desired state; null: it should not exist. */
  desired: unknown
  /** How long until the next step; 'rest' waits until the world settles. */
  pause: number | 'rest'
}

/** Something that happens to a whole cluster before a step. */
export type Moment = { beforeStep: number; cluster: string } & (
  | { do: 'crash' }
  /** Restart with caches from this many revisions ago. */
  | { do: 'old-restart'; back: number }
  | { do: 'jump-clock'; ms: number }
  | { do: 'restart-server' }
  /** Other clusters cannot reach it for this long; users may wait for most of it. */
  | { do: 'cut-off'; ms: number; waitMs: number }
)

/** The n-th request, delivery or effect of a cluster's controllers, and the fault injected into it. */
export type Hit = { cluster: string; n: number } & (
  | { at: 'request'; fault: ProcessFault }
  | { at: 'delivery' }
  | { at: 'effect'; fault: EffectFault }
)

export interface Script {
  world: string
  seed: number
  steps: readonly Step[]
  moments: readonly Moment[]
  /** Undefined until the script has run once: they are drawn during the run, each independently. */
  hits?: readonly Hit[]
}

const MIN_STEPS = 3
const MAX_STEPS = 14
/** The share of moments, where there is something to cut off. */
const CUT_OFF = 0.35
const MAX_CUT_OFF_MS = 120_000
/** The share of seeds with a focus, and of steps that are in focus there. */
const FOCUSED_SEEDS = 0.5
const FOCUSED_STEPS = 0.75

export function scriptOf(world: SeededWorld, seed: number): Script {
  const random = seededRandom(mixed(seed, 1))
  const count = MIN_STEPS + whole(random, (world.maxSteps ?? MAX_STEPS) - MIN_STEPS + 1)
  const focus = drawFocus(world, random)
  const steps = Array.from({ length: count }, () => drawStep(world, focus, random))
  const moments: Moment[] = []
  const rate = random.next() < 0.7 ? random.next() * 0.5 : 0
  for (let beforeStep = 1; beforeStep <= count; beforeStep++) if (random.next() < rate) moments.push(drawMoment(world, beforeStep, random))
  return { world: world.name, seed, steps, moments }
}

function drawFocus({ focuses = [] }: SeededWorld, random: Random): readonly Generator[] | undefined {
  return focuses.length > 0 && random.next() < FOCUSED_SEEDS ? oneOf(random, focuses) : undefined
}

function drawStep(world: SeededWorld, focus: readonly Generator[] | undefined, random: Random): Step {
  const generator = oneOf(random, focus !== undefined && random.next() < FOCUSED_STEPS ? focus : world.generators)
  const desired = random.next() < 0.3 && generator.isLasting !== true ? null : generator.draw(random)
  const pace = random.next()
  const pause = pace < 0.3 ? 0 : pace < 0.7 ? 1 + whole(random, 50) : pace < 0.85 ? whole(random, 20_000) : 'rest'
  const clusters = world.clusters.filter((name) => generator.isFor === undefined || generator.isFor(name))
  return { cluster: oneOf(random, clusters), thing: generator.name, name: oneOf(random, generator.names), desired, pause }
}

function drawMoment(world: SeededWorld, beforeStep: number, random: Random): Moment {
  const where = { beforeStep, cluster: oneOf(random, world.clusters) }
  const { cutOff = [] } = world
  if (cutOff.length > 0 && random.next() < CUT_OFF) return drawCutOff({ beforeStep, cluster: oneOf(random, cutOff) }, random)
  const kind = random.next()
  if (kind < 0.4) return { ...where, do: 'crash' }
  if (kind < 0.7) return { ...where, do: 'old-restart', back: 1 + whole(random, 40) }
  if (kind < 0.85) return { ...where, do: 'restart-server' }
  return { ...where, do: 'jump-clock', ms: Math.round((random.next() - 0.5) * 20_000) }
}

function drawCutOff(where: { beforeStep: number; cluster: string }, random: Random): Moment {
  const ms = 1000 + whole(random, MAX_CUT_OFF_MS)
  return { ...where, do: 'cut-off', ms, waitMs: random.next() < 0.5 ? 0 : Math.round(ms * 0.9) }
}

/** The final desired state, by cluster, thing and name. */
export function lastDesired(steps: readonly Step[]): Step[] {
  const last = new Map<string, Step>()
  for (const step of steps) last.set(`${step.cluster} ${step.thing} ${step.name}`, step)
  return [...last.values()]
}

/** Probability of each fault in this seed. */
export interface Rates {
  failBefore: number
  failAfter: number
  delay: number
  refuse: number
  crash: number
  cut: number
  expire: number
  repeat: number
  breakOff: number
  hide: number
  effect: number
}

export function ratesOf(seed: number): Rates {
  const random = seededRandom(mixed(seed, 2))
  const rate = (most: number): number => (random.next() < 0.5 ? 0 : most * random.next() ** 2)
  return {
    failBefore: rate(0.15),
    failAfter: rate(0.15),
    delay: rate(0.3),
    refuse: rate(0.1),
    crash: rate(0.03),
    cut: rate(0.3),
    expire: rate(0.3),
    repeat: rate(0.3),
    breakOff: rate(0.05),
    hide: rate(0.15),
    effect: rate(0.4),
  }
}

/** Each request has its own draw, independent of earlier ones: removing one fault leaves the others in place. */
export function drawRequest(
  seed: number,
  rates: Rates,
  of: { cluster: string; n: number; isWrite: boolean; isWatch: boolean },
): ProcessFault | undefined {
  const random = seededRandom(mixed(seed, 3, of.n, codeOf(of.cluster)))
  const lines = (): number => whole(random, 6)
  const draws: [number, () => ProcessFault][] = [
    [rates.failBefore, () => ({ do: 'fail-before' })],
    [rates.failAfter, () => ({ do: 'fail-after' })],
    [rates.delay, () => ({ do: 'delay', ms: 1 + whole(random, 3000) })],
    [rates.refuse, () => ({ do: 'answer', code: random.next() < 0.5 ? 429 : 503, retryAfterSeconds: 1 })],
    ...(of.isWrite
      ? [[rates.crash, () => ({ do: random.next() < 0.7 ? 'crash-after' : 'crash-before' })] as [number, () => ProcessFault]]
      : []),
    ...(of.isWatch
      ? ([
          [rates.cut, () => ({ do: 'cut', afterLines: lines() })],
          [rates.expire, () => ({ do: 'expire', afterLines: lines() })],
          [rates.repeat, () => ({ do: 'repeat' })],
        ] as [number, () => ProcessFault][])
      : ([[rates.breakOff, () => ({ do: 'break-off', afterBytes: whole(random, 200) })]] as [number, () => ProcessFault][])),
  ]
  return draws.find(([rate]) => random.next() < rate)?.[1]()
}

export function drawDelivery(seed: number, rates: Rates, of: { cluster: string; n: number }): boolean {
  return seededRandom(mixed(seed, 4, of.n, codeOf(of.cluster))).next() < rates.hide
}

export function drawEffect(seed: number, rates: Rates, of: { cluster: string; n: number }): EffectFault | undefined {
  const random = seededRandom(mixed(seed, 5, of.n, codeOf(of.cluster)))
  if (random.next() >= rates.effect) return undefined
  return oneOf(random, ['fail-before', 'fail-after', 'late', 'never'] as const)
}

const whole = (random: Random, below: number): number => Math.floor(random.next() * below)

export function oneOf<T>(random: Random, all: readonly T[]): T {
  const chosen = all[whole(random, all.length)]
  if (chosen === undefined) throw new Error('there is nothing to choose from')
  return chosen
}

function mixed(...numbers: readonly number[]): number {
  let hash = 0x811c9dc5
  for (const number of numbers) {
    hash = Math.imul(hash ^ (number & 0xffff), 0x01000193)
    hash = Math.imul(hash ^ (number >>> 16), 0x01000193)
    hash ^= hash >>> 13
  }
  return hash >>> 0
}

const codeOf = (name: string): number => [...name].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) >>> 0, 7)
