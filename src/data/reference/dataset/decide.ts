/**
 * What a reference is: as its original is, or why it is not bound, in one sentence. Pure. What was bound and lost its original has
 * failed. Without consent the sentence does not depend on whether the original exists.
 */
import { hasOwnCache } from '../../../kinds/fluid/admission/index.ts'
import type { Dataset, DatasetStatus } from '../../../kinds/fluid/index.ts'
import { isReference, ONLY_THIN } from '../../../kinds/fluid/reference.ts'
import { findCondition } from '../../../kube/conditions.ts'
import { checkDns1035Label } from '../../../kube/names.ts'
import { boundType } from '../../dataset/runtimes.ts'
import { shown } from '../../dataset/text.ts'
import { withdrawnText, withheldText } from '../consent.ts'
import { isGoing, WITHDRAWN } from '../indexes.ts'
import { MOST_REFERENCES } from '../referring.ts'
import type { Observed, Original } from './observe.ts'

export type Mirrored = 'Bound' | 'Failed' | 'Updating' | 'DataMigrating'

export type Standing =
  | /** Not bound, or no more. */
  { is: 'waiting'; sentence: string; isWithdrawn?: boolean; needsRuntime?: boolean }
  /** It was bound, and its original is gone. */
  | { is: 'lost'; sentence: string }
  | { is: 'mirrored'; phase: Mirrored; status: DatasetStatus; mirrorProblem: string | undefined }

const MIRRORED: ReadonlySet<string> = new Set<Mirrored>(['Bound', 'Failed', 'Updating', 'DataMigrating'])

const waiting = (sentence: string): Standing => ({ is: 'waiting', sentence })

export function decide(observed: Observed): Standing {
  const { dataset, referred, original } = observed
  const { namespace = '', name = '' } = dataset.metadata
  if (checkDns1035Label(name).length > 0)
    return waiting(
      `${name} cannot be the name of a dataset: choose one that starts with a letter and has only lower case letters, digits and '-'`,
    )
  const own = ownRuntime(observed)
  if (own !== undefined) return own
  const where = `${referred.namespace}/${referred.name}`
  const wasBound = boundType(dataset.status) === 'thin'
  if (wasBound && original.isEnding)
    return {
      is: 'lost',
      sentence: `namespace ${referred.namespace}, which has Dataset ${where}, is being deleted or gone: mount another dataset`,
    }
  if (!original.isPermitted) {
    const isWithdrawn = wasBound || findCondition(dataset.status?.conditions, WITHDRAWN)?.status === 'True'
    return { is: 'waiting', sentence: (isWithdrawn ? withdrawnText : withheldText)(namespace, referred), isWithdrawn }
  }
  if (original.dataset === undefined)
    return wasBound
      ? { is: 'lost', sentence: `Dataset ${where}, to which this one refers, is gone: create it again, or mount another one` }
      : waiting(`there is no Dataset ${where}, to which this one refers: create it, or correct the name`)
  return following(original, original.dataset, where)
}

/** What its own runtime keeps it from; undefined: nothing. */
function ownRuntime({ dataset, runtimes, lastFailure }: Observed): Standing | undefined {
  const { name = '' } = dataset.metadata
  const live = runtimes.filter(({ object }) => !isGoing(object))
  const caching = live.find(({ object }) => hasOwnCache(object))
  if (caching !== undefined) {
    const advice = caching.type === 'thin' ? `remove profileName from ThinRuntime ${name}, or delete it` : `delete ${caching.kind} ${name}`
    return waiting(`${ONLY_THIN}: ${advice}`)
  }
  if (live.length > 0) return undefined
  const [going] = runtimes
  if (going !== undefined) return waiting(`waits until ${going.kind} ${name} is gone, which is being deleted`)
  const sentence =
    lastFailure === undefined
      ? `its ThinRuntime ${name} is being created`
      : `its ThinRuntime ${name} cannot be created: ${shown(lastFailure)}`
  return { is: 'waiting', sentence, needsRuntime: !isGoing(dataset) }
}

function following({ isListed, mirrorProblem }: Extract<Original, { isPermitted: true }>, original: Dataset, where: string): Standing {
  if (isReference(original))
    return waiting(`Dataset ${where} itself refers to another dataset, and references do not chain: mount the dataset that it refers to`)
  if (!isListed) {
    if (isGoing(original)) return waiting(`Dataset ${where} is being deleted, and takes no new references: mount another one`)
    return (original.status?.datasetRef?.length ?? 0) >= MOST_REFERENCES
      ? waiting(
          `Dataset ${where} has ${MOST_REFERENCES} references or more, and no room for another of this namespace: ask its owner to delete some`,
        )
      : waiting(`waits until Dataset ${where} has this one in its list of references`)
  }
  const { status } = original
  if (status === undefined || !MIRRORED.has(status.phase ?? ''))
    return waiting(`mounting dataset is not bound to a runtime yet: Dataset ${where} is waited for, see its conditions, or ask its owner`)
  return { is: 'mirrored', phase: status.phase as Mirrored, status, mirrorProblem }
}
