import { keyOfRef } from '../../../kube/object-reference.ts'
import type { Outcome } from '../../../runtime/controller.ts'
import type { Step } from '../../seeded/script.ts'
import type { PlantedInMember } from './planted.ts'

const OF = 'data.runtime.cache'

interface Asked {
  atMs: number
  report: unknown
}

const step = (thing: string, all: readonly unknown[]): Step[] =>
  all.map((desired) => ({ cluster: 'member1', thing, name: 'default/demo', desired, pause: 'rest' }))

export const victimFromStaleReport: PlantedInMember = {
  name: 'victim from a stale report',
  differs: 'what a cache said of its workers first counts each time that one is chosen to leave',
  caughtBy: 'invariant',
  foundBy: { seed: 1 },
  of: OF,
  // Of three workers whose readers are anywhere two are chosen, one after another.
  steps: [...step('mode of a cache', [true]), ...step('scale of a cache', [3, 1, 3, 1, 3, 1])],
  twin(right) {
    const first = new Map<string, unknown>()
    return {
      ...right,
      observe: (key, primary, read, client) =>
        right.observe(
          key,
          primary,
          {
            ...read,
            outcome<Input, Output>(effect: Parameters<typeof read.outcome<Input, Output>>[0], of: string): Outcome<Output> | undefined {
              const outcome = read.outcome(effect, of)
              if (effect.name !== `${OF}.worker-report` || outcome?.state !== 'done') return outcome
              const value = outcome.value as Asked
              const cache = keyOfRef(key)
              if (!first.has(cache) && value.report !== undefined) first.set(cache, value.report)
              return { state: 'done', value: { ...value, report: first.get(cache) } as Output }
            },
          },
          client,
        ),
    }
  },
}
