/** A defective controller of datasets among the correct ones, in a world of one member: it differs in one thing. */
import { runControllers } from '../../../composition.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import type { Controller, Effect, Outcome } from '../../../runtime/controller.ts'
import type { Oracle } from '../../prover/failure.ts'
import { proveScript, proveSeed, type SeedResult } from '../../seeded/prove-seed.ts'
import { type Step, scriptOf } from '../../seeded/script.ts'
import type { SeededWorld } from '../../seeded/seeded-world.ts'
import { memberWorld } from '../../seeded/worlds/member.ts'
import type { WorldSnapshot } from '../../world/snapshot.ts'

export interface PlantedInMember {
  name: string
  /** How it differs from the correct one, in one sentence. */
  differs: string
  caughtBy: Oracle
  /** The first seed of the member world that finds it. */
  foundBy: { seed: number }
  /** What people do, where seeds seldom come to do it: a seed decides what goes wrong meanwhile. */
  steps?: readonly Step[]
  /** The name of the controller that is replaced. */
  of: string
  /** Called anew for every process, so that what it remembers is lost with the process. */
  twin(right: Controller): Controller
}

export const worldWith = ({ of, twin }: Pick<PlantedInMember, 'of' | 'twin'>): SeededWorld =>
  memberWorld({
    controllers: (options) =>
      runControllers({
        ...options,
        adapt(right) {
          const controller = right.name === of ? twin(right) : right
          return options.adapt?.(controller) ?? controller
        },
      }),
  })

/** A seed in a world with the defective controller, or with the correct one. */
export function provePlanted(
  planted: PlantedInMember,
  { world, seed, from }: { world: SeededWorld; seed: number; from: WorldSnapshot },
): Promise<SeedResult> {
  const { steps } = planted
  return steps === undefined ? proveSeed(world, seed, from) : proveScript(world, { ...scriptOf(world, seed), steps, moments: [] }, from)
}

/** The same controller, to which every answer of one effect is another. */
export const withAnswers = <T>(
  right: Controller,
  effect: string,
  answer: (value: T, asked: { cache: ObjectRef; key: string }) => T,
): Controller => ({
  ...right,
  observe: (cache, primary, read, client) =>
    right.observe(
      cache,
      primary,
      {
        ...read,
        outcome<Input, Output>(of: Effect<Input, Output>, key: string): Outcome<Output> | undefined {
          const outcome = read.outcome(of, key)
          if (of.name !== effect || outcome?.state !== 'done') return outcome
          return { state: 'done', value: answer(outcome.value as unknown as T, { cache, key }) as unknown as Output }
        },
      },
      client,
    ),
})
