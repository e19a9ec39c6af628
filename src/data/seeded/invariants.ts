/** What holds at every moment for datasets, their volumes and their caches, whatever fails meanwhile. */
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { Invariant } from '../../runtime/seams/seeded.ts'
import { nothingCrosses } from './hidden-texts.ts'
import {
  BOUND,
  CLAIMS,
  claimOf,
  DATASETS,
  datasetOfVolume,
  isGoing,
  isMade,
  isWanted,
  phaseOf,
  RUNTIMES,
  runtimesOf,
  usersOf,
  VOLUMES,
  whereOf,
} from './judge.ts'
import { labelsStay, neverLabelledAgain } from './node-labels.ts'
import { leastGoFirst, neverTooFew, readersKeepWorkers } from './scaling-invariants.ts'
import { boundToListing, originalsStay, showsNoMore } from './sharing-invariants.ts'
import { oneWriter } from './writers.ts'

const RUNTIME_PLURALS = Object.values(RUNTIMES)

/** Released: it went because its dataset or its runtime did. A decision from an old cache would make it again. */
export const neverMadeAgain: Invariant<Set<string>> = {
  says: 'a volume or claim that was released is not made again for a dataset or runtime that is gone',
  about: [VOLUMES, CLAIMS],
  memory: () => new Set(),
  broken(view, { resource, object, previous, isDeletion }, released) {
    if (!isMade(object)) return undefined
    const where = datasetOfVolume(object)
    const key = `${resource} ${where}`
    if (isDeletion && !isWanted(view, where)) released.add(key)
    if (isDeletion || previous !== undefined) return undefined
    if (released.has(key) && !isWanted(view, where)) return `${whereOf(object)} is there again`
    released.delete(key)
    return undefined
  },
}

/** Neither that of a user, nor that of another dataset. */
const neverTakenOver: Invariant = {
  says: 'a claim or volume of a user is never taken over, changed or deleted',
  about: [VOLUMES, CLAIMS],
  broken(_view, { object, previous, isDeletion, isPeoples }) {
    if (previous === undefined || isPeoples || isMade(previous)) return undefined
    if (isMade(object)) return `${whereOf(object)} is taken over`
    const writers = (object.metadata.managedFields ?? []).filter(({ manager }) => manager?.startsWith('data.') === true)
    if (writers.length > 0) return `${whereOf(object)} is changed by ${writers[0]?.manager}`
    return isDeletion && !isGoing(previous) && object.kind === 'PersistentVolumeClaim' ? `${whereOf(object)} is deleted` : undefined
  },
}

/** The key of a cache, and what pods get from users: by what is in them, so that a copy is found under any name. */
const secretsStay: Invariant<Map<string, string>> = {
  says: 'no Secret is in a namespace that it was not made in',
  about: ['secrets'],
  memory: () => new Map(),
  broken(_view, { object, isDeletion }, homes) {
    const { namespace = '' } = object.metadata
    for (const [name, value] of Object.entries((object.data ?? {}) as Record<string, string>)) {
      // What authorities and namespaces are called is in every token.
      if (isDeletion || name === 'ca.crt' || name === 'namespace') continue
      const home = homes.get(value)
      if (home !== undefined && home !== namespace) return `${name} of ${whereOf(object)} was made in ${home}`
      homes.set(value, namespace)
    }
    return undefined
  },
}

const fileNumOf = (dataset: Dataset | undefined): number => Number.parseInt(dataset?.status?.fileNum ?? '', 10)

/** Reports of seeds count upwards. */
const figuresGrow: Invariant = {
  says: 'what a dataset shows of its cache never goes back to an earlier report',
  about: [DATASETS],
  broken(_view, { object, previous }) {
    const [now, before] = [fileNumOf(object as Dataset), fileNumOf(previous as Dataset | undefined)]
    return now < before ? `${whereOf(object)} shows ${now} after ${before}` : undefined
  },
}

interface Order {
  step: number
  /** When each was last written or deleted. */
  at: Map<string, number>
}

/** A dataset is written from what was known when it was last read; what was gone by then counts as gone. */
const boundToSome: Invariant<Order> = {
  says: 'a dataset becomes bound only to a runtime that was there since it was last written',
  about: [DATASETS, ...RUNTIME_PLURALS],
  memory: () => ({ step: 0, at: new Map() }),
  broken(view, { resource, object, previous, isDeletion }, order) {
    const where = whereOf(object)
    order.step++
    if (resource !== DATASETS) {
      if (isDeletion) order.at.set(`gone ${where}`, order.step)
      return undefined
    }
    const before = order.at.get(where) ?? 0
    order.at.set(where, order.step)
    if (isDeletion || BOUND.includes(phaseOf(previous)) || !BOUND.includes(phaseOf(object)) || runtimesOf(view, where).length > 0)
      return undefined
    return (order.at.get(`gone ${where}`) ?? 0) < before ? `${where} is bound` : undefined
  },
}

interface Uses {
  step: number
  /** When each dataset and runtime was marked for deletion. */
  marked: Map<string, number>
  /** Since when each pod is on a node, and each claim is there, by uid. */
  since: Map<string, number>
}

/** Pods that come later than the deletion are told by the claim, which is going. */
const heldByUsers: Invariant<Uses> = {
  says: 'a dataset and its runtime stay while pods use the claim that used it before the deletion',
  about: [DATASETS, CLAIMS, 'pods', ...RUNTIME_PLURALS],
  memory: () => ({ step: 0, marked: new Map(), since: new Map() }),
  broken(view, { resource, object, isDeletion }, uses) {
    const uid = object.metadata.uid ?? ''
    const step = ++uses.step
    const isUse = resource === CLAIMS || resource === 'pods'
    if (isUse) {
      const isThere = resource === CLAIMS || ((object.spec as { nodeName?: string } | undefined)?.nodeName ?? '') !== ''
      if (isThere && !uses.since.has(uid)) uses.since.set(uid, step)
      return undefined
    }
    if (isGoing(object) && !uses.marked.has(uid)) uses.marked.set(uid, step)
    if (!isDeletion) return undefined
    const where = whereOf(object)
    const claim = claimOf(view, where)
    const markedAt = uses.marked.get(uid) ?? step
    const isOlder = (one: { metadata: { uid?: string } }): boolean => (uses.since.get(one.metadata.uid ?? '') ?? 0) < markedAt
    if (claim === undefined || !isMade(claim) || !isOlder(claim)) return undefined
    const user = usersOf(view, where).find(isOlder)
    if (user !== undefined) return `${object.kind} ${where} is gone, and ${whereOf(user)} uses it`
    return resource === DATASETS ? undefined : `${object.kind} ${where} is gone, and its claim is not`
  },
}

export const INVARIANTS: readonly Invariant[] = [
  oneWriter,
  neverMadeAgain,
  neverTakenOver,
  neverLabelledAgain,
  labelsStay,
  secretsStay,
  figuresGrow,
  boundToSome,
  heldByUsers,
  originalsStay,
  showsNoMore,
  boundToListing,
  nothingCrosses,
  neverTooFew,
  readersKeepWorkers,
  leastGoFirst,
]
