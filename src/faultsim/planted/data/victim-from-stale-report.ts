import { keyOfRef } from '../../../kube/object-reference.ts'
import type { Step } from '../../seeded/script.ts'
import { type PlantedInMember, withAnswers } from './planted.ts'

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
    return withAnswers<Asked>(right, `${OF}.worker-report`, (value, { cache }) => {
      const name = keyOfRef(cache)
      if (!first.has(name) && value.report !== undefined) first.set(name, value.report)
      return { ...value, report: first.get(name) }
    })
  },
}
