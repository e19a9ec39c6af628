/** What holds for datasets when everything has settled: pure, from what is stored in a member to what is wrong there. */
import type { CacheRuntimeStatus } from '../../kinds/fluid/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { InvariantView, RestInvariant } from '../../runtime/seams/seeded.ts'
import { versionOfAnswers } from './answers.ts'
import { datasetsIn, firstOf, inMembers } from './at-rest-checks.ts'
import { REPORTING } from './generators/drawing.ts'
import {
  BOUND,
  CLAIMS,
  claimOf,
  classNameOf,
  commonLabelOf,
  datasetOfVolume,
  isGoing,
  isMade,
  phaseOf,
  runtimesOf,
  usersOf,
  VOLUMES,
  volumeNameOf,
  whereOf,
  workersIn,
} from './judge.ts'
import { SCALING_AT_REST } from './scaling-at-rest.ts'
import { SHARING_AT_REST } from './sharing-at-rest.ts'
import { holdersOf } from './sharing-invariants.ts'
import { referredBy } from './sharing-judge.ts'

const inPairs = inMembers('a volume of a dataset has its claim, and a claim its volume', (view) => {
  const [volumes, claims] = [VOLUMES, CLAIMS].map((plural) => view.list(plural).filter(isMade).map(datasetOfVolume)) as [string[], string[]]
  return (
    firstOf(volumes, (where) => (claims.includes(where) ? undefined : `the volume of ${where} has no claim`)) ??
    firstOf(claims, (where) => (volumes.includes(where) ? undefined : `the claim of ${where} has no volume`))
  )
})

const boundMeans = inMembers('a bound dataset has its runtime, a volume and a claim, and no other has a claim that stays', (view) =>
  firstOf(datasetsIn(view), (dataset) => {
    const where = whereOf(dataset)
    const claim = claimOf(view, where)
    const isTaken = claim !== undefined && !isMade(claim)
    if (!BOUND.includes(phaseOf(dataset)) || isGoing(dataset))
      return claim === undefined || isTaken || isGoing(claim) ? undefined : `${where} is not bound, and has a claim`
    const type = dataset.status?.runtimes?.[0]?.type
    const runtime = runtimesOf(view, where).find((one) => one.type === type)?.object
    if (runtime === undefined || isGoing(runtime)) return `${where} is bound, and its runtime is gone`
    // One that somebody has deleted stays while pods use it, and is made again after that.
    const isHeld = claim !== undefined && usersOf(view, where).length > 0
    // That of a reference is made from the original's.
    const referred = referredBy(dataset)
    if (referred !== undefined && (claim === undefined || isGoing(claim)) && !hasVolume(view, referred.where)) return undefined
    return claim === undefined || (isGoing(claim) && !isTaken && !isHeld) ? `${where} is bound, and has no claim` : undefined
  }),
)

const hasVolume = (view: InvariantView, where: string): boolean => {
  const volume = view.get(VOLUMES, volumeNameOf(where))
  return volume !== undefined && isMade(volume) && !isGoing(volume) && datasetOfVolume(volume) === where
}

const isUp = ({ status }: KubeObject): boolean => {
  const { conditions = [], master, worker } = (status ?? {}) as Partial<CacheRuntimeStatus>
  const isServed = conditions.some(({ type, status: is }) => type === 'Served' && is === 'True')
  // A master has a phase only where the class has one.
  const isReady = (phase: string | undefined): boolean => phase === undefined || phase === '' || phase === 'Ready'
  return isServed && isReady(master?.phase) && worker?.phase === 'Ready'
}

const boundWhenReady = inMembers('a dataset is bound when its only runtime is served and ready', (view) =>
  firstOf(datasetsIn(view), (dataset) => {
    const where = whereOf(dataset)
    const [runtime, ...others] = runtimesOf(view, where)
    if (isGoing(dataset) || runtime === undefined || others.length > 0) return undefined
    if (runtime.type !== 'cache' || isGoing(runtime.object) || !isUp(runtime.object)) return undefined
    return phaseOf(dataset) === 'Bound' ? undefined : `${where} is ${phaseOf(dataset)}`
  }),
)

const isLookedAt = inMembers('a dataset has its finalizer, its label and a phase, and one that goes has a reason to stay', (view) =>
  firstOf(datasetsIn(view), (dataset) => {
    const where = whereOf(dataset)
    if (isGoing(dataset))
      return usersOf(view, where).length + holdersOf(view, dataset).length > 0 ? undefined : `${where} is not gone, and nobody uses it`
    const { finalizers = [], labels = {} } = dataset.metadata
    if (!finalizers.includes('fluid-dataset-controller-finalizer')) return `${where} has no finalizer`
    if (labels['fluid.io/dataset-id'] !== where.replace('/', '-')) return `${where} has no label`
    return phaseOf(dataset) === '' ? `${where} has no phase` : undefined
  }),
)

const labelsMatch = inMembers('a node has the labels of the datasets whose workers it has, and their number', (view) =>
  firstOf(view.list('nodes'), ({ metadata: { name = '', labels = {} } }) => {
    const datasets = [...new Set(workersIn(view).flatMap(({ node, dataset }) => (node === name ? [dataset] : [])))].sort()
    const common = Object.keys(labels).filter((key) => /^fluid\.io\/s-(?!h-|cache-|alluxio-)/.test(key))
    const wanted = datasets.map(commonLabelOf)
    if (common.sort().join() !== wanted.sort().join()) return `${name} has ${common.join() || 'none'} instead of ${wanted.join() || 'none'}`
    const number = labels['fluid.io/dataset-num']
    return number === (datasets.length === 0 ? undefined : String(datasets.length))
      ? undefined
      : `${name} counts ${number ?? 'nothing'} instead of ${datasets.length}`
  }),
)

const figuresAreNew = inMembers('a bound dataset shows the last report of its cache', (view) =>
  firstOf(datasetsIn(view), (dataset) => {
    const runtime = runtimesOf(view, whereOf(dataset))[0]
    if (runtime === undefined || classNameOf(runtime.object) !== REPORTING || phaseOf(dataset) !== 'Bound' || isGoing(dataset))
      return undefined
    if (!isUp(runtime.object)) return undefined
    const [shown, reported] = [dataset.status?.fileNum, versionOfAnswers(view)]
    return shown === reported ? undefined : `${whereOf(dataset)} shows ${shown} instead of ${reported}`
  }),
)

export const AT_REST: readonly RestInvariant[] = [
  inPairs,
  boundMeans,
  boundWhenReady,
  isLookedAt,
  labelsMatch,
  figuresAreNew,
  ...SHARING_AT_REST,
  ...SCALING_AT_REST,
]

/** It may fail three times, ten seconds apart. */
const ASKED_AGAIN_MS = 60_000 + 3 * 10_000 + 5000
const MOUNTED_AGAIN_MS = 310_000

/** Caches are asked every minute at least, and failed commands are repeated after a while. */
export function patienceMs(view: InvariantView, waitedMs: number): number {
  const bound = datasetsIn(view).filter((dataset) =>
    runtimesOf(view, whereOf(dataset)).some(({ object }) => classNameOf(object) === REPORTING),
  )
  if (bound.length === 0) return 0
  if (waitedMs === 0) return ASKED_AGAIN_MS
  const isMounting = bound.some(({ status }) => (status?.conditions ?? []).some(({ message }) => /mounted|mounting/.test(message ?? '')))
  return isMounting && waitedMs < MOUNTED_AGAIN_MS ? MOUNTED_AGAIN_MS : 0
}
