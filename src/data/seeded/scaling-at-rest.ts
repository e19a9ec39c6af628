/** What holds for the workers of a cache when everything has settled. */
import type { KubeObject } from '../../kube/meta.ts'
import type { InvariantView } from '../../runtime/seams/seeded.ts'
import { workersOf } from './answers.ts'
import { firstOf, inMembers, type Wrong } from './at-rest-checks.ts'
import { conditionIn, DATASETS, isServed, namespaceIn } from './judge.ts'
import {
  askedOf,
  isBesideWorkers,
  isThere,
  leavingIn,
  nodeOf,
  podNamesIn,
  readersIn,
  type WorkerSet,
  workerSetsIn,
} from './scaling-judge.ts'

const HELD = 'ScaleInHeld'

const asMany = inMembers(
  'there are as many workers as were asked for, or readers hold those that are too many, and the runtime says so',
  (view) =>
    firstOf(workerSetsIn(view), (one) => {
      const runtime = view.get(one.plural, one.dataset)
      if (!isThere(runtime) || !isThere(view.get(DATASETS, one.dataset)) || !isThere(one.set)) return undefined
      return isServed(runtime) ? numberIn(view, one, runtime) : undefined
    }),
)

function numberIn(view: InvariantView, one: WorkerSet, runtime: KubeObject): Wrong {
  const names = podNamesIn(one.set)
  const [asked, isHeld] = [askedOf(runtime), conditionIn(runtime, HELD)?.status === 'True']
  if (leavingIn(one.set) !== undefined) return `${leavingIn(one.set)} of ${one.where} is still led out`
  if (names.length < asked) return `${one.where} has ${names.length} of ${asked}`
  if (names.length === asked) return isHeld ? `${one.where} has as many as it should, and is said to be held` : undefined
  const free = names.find((name) => !isRead(view, one.dataset, nodeOf(view, `${namespaceIn(one.where)}/${name}`)))
  if (!isBesideWorkers(view, one.dataset) || free !== undefined)
    return `${one.where} has ${names.length} instead of ${asked}, and ${free ?? 'each'} could go`
  return isHeld ? undefined : `${one.where} has ${names.length} instead of ${asked}, and nobody says why`
}

const isRead = (view: InvariantView, dataset: string, node: string): boolean =>
  readersIn(view).some((reader) => reader.node === node && reader.datasets.includes(dataset))

const podsMatch = inMembers('the workers that there are are those of their set', (view) =>
  firstOf(workerSetsIn(view), ({ set, where, dataset }) => {
    if (!isThere(set)) return undefined
    const there = workersOf(view, dataset)
      .map(({ metadata }) => metadata.name ?? '')
      .sort()
    const wanted = podNamesIn(set).sort()
    return there.join() === wanted.join() ? undefined : `${where} has ${there.join() || 'none'} instead of ${wanted.join() || 'none'}`
  }),
)

export const SCALING_AT_REST = [asMany, podsMatch]
