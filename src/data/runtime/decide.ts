/** What is to be done about a runtime, from what was observed: pure, and the one place where that is decided. */
import type { Dataset, RuntimeCondition } from '../../kinds/fluid/index.ts'
import { runtimeFinalizer } from '../../kinds/fluid/names.ts'
import { findCondition, isConditionTrue } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { EffectRequest } from '../../runtime/controller.ts'
import { hasFinalizer } from '../../runtime/finalizer.ts'
import { hasDatasetOwner, isOwnedBy } from '../dataset-owner.ts'
import { type Prepared, type Refused, SERVED_CONDITION } from '../engines/engine.ts'
import type { ToClear } from './clear.ts'
import type { Verdict } from './conditions.ts'
import { isJoined } from './join.ts'
import type { Observed, Serving } from './observe.ts'
import { isGoing, takenBy } from './parts.ts'

export type Decision =
  | { do: 'nothing' }
  /** It goes, and nothing holds it any more; `left`: what stays on nodes, and why. */
  | { do: 'release'; left?: string }
  /** It goes as soon as what its workers have stored is removed. */
  | { do: 'clear'; request: EffectRequest; refused: Refused }
  /** Nothing is made or changed; Served says why. */
  | { do: 'tell'; refused: Refused }
  /** It is not served, but goes with its dataset all the same. */
  | { do: 'belong'; dataset: Dataset }
  /** It becomes the runtime of its dataset, before anything is made for it. */
  | { do: 'join'; dataset: Dataset }
  | { do: 'serve'; dataset: Dataset; prepared: Prepared; serving: Serving; served: Verdict; isMaking: boolean }

const NOTHING: Decision = { do: 'nothing' }

/** What stands in the way is under a name that the runtime needs. */
export const NAME_TAKEN = 'NameTaken'

export function decide(observed: Observed): Decision {
  const { runtime, engine, isStale, dataset, serving } = observed
  if (isGoing(runtime)) return atEnd(observed)
  if (isStale) return NOTHING
  const { namespace = '', name = '' } = runtime.metadata
  // What was its dataset's is removed with it; where it is to stay, it loses its owner first.
  if (dataset === undefined && hasDatasetOwner(runtime)) return NOTHING
  if (dataset === undefined || serving === undefined)
    return refusal('NoDataset', `there is no Dataset ${name} in namespace ${namespace}, which this runtime would serve: create it`)
  const wasServed = hasFinalizer(runtime, runtimeFinalizer(engine.type))
  if (isGoing(dataset) && !wasServed)
    return refusal('DatasetDeleted', `Dataset ${name} is being deleted, so nothing is made for it any more`)
  const other = dataset.status?.runtimes?.find(({ type }) => type !== undefined && type !== engine.type)
  if (other !== undefined)
    return refusal(
      'BoundToAnother',
      `Dataset ${name} is already bound to another runtime, of type ${other.type ?? ''}: delete one of the two`,
    )
  const isMaking = !isGoing(dataset)
  const refusedAs = (said: Decision): Decision => (isMaking && !isOwnedBy(runtime, dataset) ? { do: 'belong', dataset } : said)
  const { refused, prepared } = serving.served
  if (refused !== undefined) return refusedAs({ do: 'tell', refused })
  const taken = takenBy(runtime, serving.parts)
  if (taken !== undefined) return refusedAs(refusal(NAME_TAKEN, taken))
  if (isMaking && !isJoined(runtime, dataset, engine.type)) return { do: 'join', dataset }
  return { do: 'serve', dataset, prepared, serving, served: verdictOf(observed, prepared), isMaking }
}

function atEnd({ runtime, engine, volume, toClear }: Observed): Decision {
  if (!hasFinalizer(runtime, runtimeFinalizer(engine.type))) return NOTHING
  if (volume === undefined) return toClear === undefined ? { do: 'release' } : clearing(toClear)
  return refusal('Deleted', `it is being deleted, and waits until ${volume} is gone: delete the pods that use it`)
}

export const CLEARING = 'Clearing'

function clearing({ where, by }: NonNullable<ToClear>): Decision {
  const left = (why: string): Decision => ({ do: 'release', left: `${where}, because ${why}: remove them` })
  if (by === undefined) return left('the master does not run')
  const { request, outcome } = by
  if (outcome?.state === 'failed') return left(outcome.message)
  if (outcome?.state === 'done') return outcome.value.problem === undefined ? { do: 'release' } : left(outcome.value.problem)
  const message = 'it is being deleted, and waits until its workers have removed their blocks from their nodes'
  return { do: 'clear', request, refused: { reason: CLEARING, message } }
}

const refusal = (reason: string, message: string): Decision => ({ do: 'tell', refused: { reason, message } })

/** What a server refuses stays refused until somebody changes something; everything else passes. */
const REFUSALS = [400, 403, 413, 422]
/** How servers say that an applied object does not fit its schema; their code for it is 500. */
const UNFIT = /^failed to create typed patch object/

function verdictOf({ runtime, engine, failure }: Observed, { servedBy }: Prepared): Verdict {
  const served: Verdict =
    servedBy === undefined
      ? { status: 'True', reason: 'Served', message: `the engine ${engine.type} serves it` }
      : { status: 'True', reason: 'ServedByBuiltin', message: servedBy }
  if (failure?.code === undefined || !(REFUSALS.includes(failure.code) || UNFIT.test(failure.message))) return served
  const message = `the server does not accept an object of this runtime: ${failure.message}`
  // What was served before goes on as it is: only the change is missing.
  return { status: isServed(runtime) ? 'True' : 'False', reason: 'NotAccepted', message }
}

const conditionsIn = ({ status }: KubeObject): RuntimeCondition[] | undefined =>
  (status as { conditions?: RuntimeCondition[] } | undefined)?.conditions

const isServed = (runtime: KubeObject): boolean => isConditionTrue(conditionsIn(runtime), SERVED_CONDITION)

export const servedCondition = (runtime: KubeObject): RuntimeCondition | undefined => findCondition(conditionsIn(runtime), SERVED_CONDITION)
