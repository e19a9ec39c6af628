/** What holds at every moment between a dataset and those that refer to it, whatever fails meanwhile. */
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Invariant, InvariantView } from '../../runtime/seams/seeded.ts'
import { BOUND, DATASETS, isGoing, namespaceIn, phaseOf, whereOf } from './judge.ts'
import { consentedReferencesTo, figuresIn, GRANTS, listOf, mayRefer, mountsIn, referencesTo, referredBy } from './sharing-judge.ts'

interface Holds {
  step: number
  /** When each dataset was marked for deletion, by uid. */
  marked: Map<string, number>
  /** Since when each reference refers to the same original with consent, by uid. */
  since: Map<string, { to: string; step: number }>
}

/** What comes later than the deletion does not hold it, and nobody outside holds what goes with its namespace. */
export const originalsStay: Invariant<Holds> = {
  says: 'a dataset stays while others refer to it that did so, with consent, when it was to be deleted',
  about: [DATASETS, GRANTS],
  memory: () => ({ step: 0, marked: new Map(), since: new Map() }),
  broken(view, { resource, object, isDeletion }, memory) {
    const step = ++memory.step
    noteReferences(view, memory)
    if (resource !== DATASETS) return undefined
    const [where, uid] = [whereOf(object), object.metadata.uid ?? '']
    if (isGoing(object) && !memory.marked.has(uid)) memory.marked.set(uid, step)
    const markedAt = memory.marked.get(uid)
    if (!isDeletion || markedAt === undefined || referredBy(object) !== undefined || isLeft(view, where)) return undefined
    const holding = referencesTo(view, where).find(({ metadata }) => (memory.since.get(metadata.uid ?? '')?.step ?? step) <= markedAt)
    return holding === undefined ? undefined : `${where} is gone, and ${whereOf(holding)} refers to it`
  },
}

function isLeft(view: InvariantView, where: string): boolean {
  const home = view.get('namespaces', namespaceIn(where))
  return home === undefined || isGoing(home)
}

function noteReferences(view: InvariantView, { step, since }: Holds): void {
  const there = new Set<string>()
  for (const dataset of view.list(DATASETS)) {
    const to = referredBy(dataset)?.where
    const uid = dataset.metadata.uid ?? ''
    if (to === undefined || !mayRefer(view, namespaceIn(whereOf(dataset)), to)) continue
    there.add(uid)
    if (since.get(uid)?.to !== to) since.set(uid, { to, step })
  }
  for (const uid of since.keys()) if (!there.has(uid)) since.delete(uid)
}

/** By `namespace/name`: what people see of a dataset by its name, whichever it is. */
type Shown = Map<string, { figures: Set<string>; mounts: Set<string> }>

export const showsNoMore: Invariant<Shown> = {
  says: 'a reference shows only what its original has shown',
  about: [DATASETS],
  memory: () => new Map(),
  broken(view, { object, previous, isDeletion }, shown) {
    if (isDeletion) return undefined
    const referred = referredBy(object)
    if (referred === undefined) {
      note(shown, object)
      return undefined
    }
    const original = view.get(DATASETS, referred.where)
    if (original !== undefined) note(shown, original)
    const known = shown.get(referred.where)
    const [figures, mounts] = [figuresIn(object), mountsIn(object)]
    if (figures !== undefined && figures !== figuresIn(previous) && known?.figures.has(figures) !== true)
      return `${whereOf(object)} shows ${figures}`
    return mounts !== mountsIn(previous) && mounts !== '[]' && known?.mounts.has(mounts) !== true
      ? `${whereOf(object)} shows the mounts ${mounts}`
      : undefined
  },
}

function note(shown: Shown, dataset: KubeObject): void {
  const where = whereOf(dataset)
  const known = shown.get(where) ?? { figures: new Set(), mounts: new Set() }
  shown.set(where, known)
  known.figures.add(figuresIn(dataset) ?? '')
  known.mounts.add(mountsIn(dataset))
}

/** Whether each reference could be bound at some moment since it was last written, by `namespace/name`. */
type Possible = Map<string, boolean>

/** A reference is written from what was known when it was last read. */
export const boundToListing: Invariant<Possible> = {
  says: 'a reference becomes bound only to a bound dataset that lists it, with consent, at some moment since it was last written',
  about: [DATASETS, GRANTS],
  memory: () => new Map(),
  broken(view, { resource, object, previous, isDeletion }, possible) {
    const isReference = resource === DATASETS && !isDeletion && referredBy(object) !== undefined
    const where = whereOf(object)
    const isNew = isReference && phaseOf(object) === 'Bound' && !BOUND.includes(phaseOf(previous))
    const wrong = isNew && possible.get(where) !== true && !canBeBound(view, object) ? `${where} is bound` : undefined
    if (isReference) possible.delete(where)
    for (const dataset of view.list(DATASETS)) if (canBeBound(view, dataset)) possible.set(whereOf(dataset), true)
    return wrong
  },
}

function canBeBound(view: InvariantView, reference: KubeObject): boolean {
  const referred = referredBy(reference)
  const original = referred === undefined ? undefined : view.get(DATASETS, referred.where)
  const where = whereOf(reference)
  return (
    referred !== undefined &&
    listOf(original).includes(where) &&
    BOUND.includes(phaseOf(original)) &&
    mayRefer(view, namespaceIn(where), referred.where)
  )
}

/** References without which an original that is being deleted could go. */
export const holdersOf = (view: InvariantView, original: Dataset): Dataset[] => {
  const { deletionTimestamp = '' } = original.metadata
  return consentedReferencesTo(view, whereOf(original)).filter(
    (one) => listOf(original).includes(whereOf(one)) || Date.parse(one.metadata.creationTimestamp ?? '') <= Date.parse(deletionTimestamp),
  )
}
