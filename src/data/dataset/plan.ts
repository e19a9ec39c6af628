/**
 * What is done about a dataset. Pure. Its finalizer and label come first, the status next, and then what was decided: a runtime
 * that its annotation asks for, commands in pods. When it goes, its finalizer stays while something uses it.
 */
import type { Dataset, DatasetStatus } from '../../kinds/fluid/index.ts'
import { datasetId } from '../../kinds/fluid/names.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { DATASET_FINALIZER, LABELS } from '../../kinds/fluid/well-known.ts'
import { findCondition } from '../../kube/conditions.ts'
import { type Action, type EffectRequest, type EventIntent, NOTHING_TO_DO, type Plan, request } from '../../runtime/controller.ts'
import { hasFinalizer, removeFinalizer } from '../../runtime/finalizer.ts'
import { shownKeys } from '../reference/referring.ts'
import type { Said } from './conditions.ts'
import { decide, isMountFailure, type Standing } from './decide.ts'
import type { DatasetEffects } from './effects.ts'
import { deletionHeld, mountFailed, nameTaken } from './events.ts'
import { followingIn, marked } from './follow-request.ts'
import { type Observed, reportKey, type Service, type Users } from './observe.ts'
import { patchOf, statusOf } from './status.ts'

export function plan(observed: Observed, effects: DatasetEffects): Plan {
  const { dataset, isCertain, users } = observed
  const isGoing = dataset.metadata.deletionTimestamp !== undefined
  if (isGoing && !hasFinalizer(dataset, DATASET_FINALIZER)) return NOTHING_TO_DO
  // The key is queued again when the cache has caught up.
  if (!isCertain) return NOTHING_TO_DO
  if (!isGoing) return identity(dataset) ?? planLife(observed, effects)
  const held = holdOf(dataset, users)
  return held === undefined ? { actions: [removeFinalizer(DATASETS, dataset, DATASET_FINALIZER)] } : planLife(observed, effects, held)
}

/** The finalizer and the label, in one write; undefined when both are there. */
export function identity(dataset: Dataset): Plan | undefined {
  const { namespace = '', name = '', uid = '', labels, finalizers = [] } = dataset.metadata
  const id = datasetId({ namespace, name, uid })
  const hasOurs = hasFinalizer(dataset, DATASET_FINALIZER)
  if (hasOurs && labels?.[LABELS.datasetId] === id) return undefined
  const metadata = { labels: { [LABELS.datasetId]: id }, ...(hasOurs ? {} : { finalizers: [...finalizers, DATASET_FINALIZER] }) }
  return { actions: [{ do: 'patch', resource: DATASETS, of: dataset, patch: { metadata } }] }
}

interface Hold {
  said: Said
  event: EventIntent
}

function holdOf(dataset: Dataset, { pods, datasets }: Users): Hold | undefined {
  const { namespace = '' } = dataset.metadata
  const [pod] = pods
  if (pod === undefined && datasets.length === 0) return undefined
  const why =
    pod === undefined
      ? `Failed to delete dataset because there are datasets [${shownKeys(datasets, ' ')}] mounted to it: delete them first`
      : `Failed to delete dataset because err: can not delete dataset because Pod ${pod} in Namespace ${namespace} is using it`
  const reason = pod === undefined ? 'DatasetsUseIt' : 'PodsUseIt'
  return { said: { type: 'DeletionHeld', status: 'True', reason, message: why }, event: deletionHeld(dataset, why) }
}

function planLife(observed: Observed, effects: DatasetEffects, hold?: Hold): Plan {
  const { dataset, service } = observed
  const standing = decide(observed)
  const status = statusOf(observed, standing, hold?.said)
  const requested = standing.phase === 'NotBound' ? standing.request?.runtime : undefined
  const { change } = followingIn(observed)
  const actions: Action[] = [
    ...statusWrite(dataset, status, eventsOf(observed, standing, hold)),
    ...(change === undefined ? [] : [change]),
    // After the status: a creation that is refused must not keep the reason from being seen.
    ...(requested === undefined ? [] : [{ do: 'create' as const, resource: CACHE_RUNTIMES, object: marked(requested) }]),
  ]
  return service === undefined || service.refused !== undefined
    ? { actions }
    : { actions, ...commands(observed, { service, standing }, effects) }
}

export function statusWrite(dataset: Dataset, status: DatasetStatus, events: readonly EventIntent[]): Action[] {
  const patch = patchOf(dataset.status ?? {}, status)
  return patch === undefined
    ? []
    : [{ do: 'patch', resource: DATASETS, of: dataset, patch: { status: patch }, subresource: 'status', events }]
}

/** Each once, with the status that says the same for as long as it is so. */
function eventsOf({ dataset, taken }: Observed, standing: Standing, hold: Hold | undefined): EventIntent[] {
  const { conditions } = dataset.status ?? {}
  const isNewHold = hold !== undefined && findCondition(conditions, 'DeletionHeld')?.reason !== hold.said.reason
  const failure = standing.phase === 'Bound' ? undefined : standing.phase === 'Updating' ? standing.message : standing.sentence
  const wasFailing = ['NotReady', 'Updating'].some((type) => isMountFailure(findCondition(conditions, type)?.message))
  const isNewlyTaken = taken !== undefined && standing.phase !== 'NotBound' && findCondition(conditions, 'NameTaken')?.message !== taken
  return [
    ...(isNewHold ? [hold.event] : []),
    ...(isMountFailure(failure) && !wasFailing ? [mountFailed(dataset)] : []),
    ...(isNewlyTaken ? [nameTaken(dataset, taken)] : []),
  ]
}

type Working = Extract<Service, { refused?: undefined }>

function commands(
  { dataset }: Observed,
  { service, standing }: { service: Working; standing: Standing },
  effects: DatasetEffects,
): Pick<Plan, 'effects' | 'requeueAfterMs'> {
  const { namespace = '' } = dataset.metadata
  const { prepared, mount, asking } = service
  const { mountUfs, reportSummary, mountPaths } = prepared
  const requests: EffectRequest[] = []
  if (mountUfs !== undefined && mount !== undefined && mount.outcome?.state !== 'done' && standing.isMountable === true)
    requests.push(request(effects.mountUfs, mount.key, { namespace, entry: mountUfs, mountPaths }))
  const isServing = standing.phase === 'Bound' || standing.phase === 'Updating'
  if (reportSummary === undefined || asking === undefined || !isServing) return { effects: requests }
  if (asking.is === 'due')
    requests.push(
      request(effects.reportSummary, reportKey(asking.run, asking.at), {
        ...{ namespace, entry: reportSummary },
        ...{ workers: asking.workers, previous: asking.last },
      }),
    )
  return { effects: requests, ...(asking.is === 'early' ? { requeueAfterMs: asking.inMs } : {}) }
}
