/** How checks of what has settled are written: for each member, and for each of its objects. */
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { InvariantView, RestInvariant } from '../../runtime/seams/seeded.ts'
import { DATASETS } from './judge.ts'

export type Wrong = string | undefined

export const inMembers = (says: string, broken: (view: InvariantView) => Wrong): RestInvariant => ({
  says,
  broken(_hub, members) {
    for (const [name, view] of members) {
      const wrong = broken(view)
      if (wrong !== undefined) return `${name}: ${wrong}`
    }
    return undefined
  },
})

/** The first of what is wrong. */
export function firstOf<T>(all: readonly T[], wrong: (one: T) => Wrong): Wrong {
  for (const one of all) {
    const text = wrong(one)
    if (text !== undefined) return text
  }
  return undefined
}

export const datasetsIn = (view: InvariantView): Dataset[] => view.list(DATASETS) as Dataset[]
