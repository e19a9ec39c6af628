/** A defective controller of datasets among the correct ones, in a world of one member: it differs in one thing. */
import { runControllers } from '../../../composition.ts'
import type { Controller } from '../../../runtime/controller.ts'
import type { Oracle } from '../../prover/failure.ts'
import type { SeededWorld } from '../../seeded/seeded-world.ts'
import { memberWorld } from '../../seeded/worlds/member.ts'

export interface PlantedInMember {
  name: string
  /** How it differs from the correct one, in one sentence. */
  differs: string
  caughtBy: Oracle
  /** The first seed of the member world that finds it. */
  foundBy: { seed: number }
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
