/** From a decision about an operation to writes. Pure. */
import { type Operation, operationResource } from '../../kinds/fluid/operation.ts'
import { OPERATION_FINALIZERS } from '../../kinds/fluid/operation-names.ts'
import type { OperationKind, OperationStatus } from '../../kinds/fluid/operation-parts.ts'
import { CONFIG_MAPS, CRON_JOBS, JOBS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { type Action, type EventIntent, NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { hasFinalizer, removeFinalizer } from '../../runtime/finalizer.ts'
import { datasetReference, isOwnedBy } from '../dataset-owner.ts'
import { isGoing } from '../reference/indexes.ts'
import { mergePatchTo } from '../runtime/merge-patch.ts'
import { type Decision, decide, type Waiting } from './decide.ts'
import { ended, isSimulated, notMade, rejected, waits } from './events.ts'
import { WAITING_INFO } from './flow/decide.ts'
import type { Observed, ProgressEffect } from './observe.ts'
import { asked } from './progress/plan.ts'
import type { End } from './run.ts'
import { SIMULATED_INFO } from './simulated.ts'
import { isCron, statusOf } from './spec.ts'
import { accepted, endStatus, finishedStatus, nextRunInfos, runningStatus, timesOf, withoutWaiting } from './status.ts'

export function plan(observed: Observed, effect?: ProgressEffect): Plan {
  const { operation } = observed
  const adoption = isGoing(operation) ? undefined : adopt(observed)
  if (adoption !== undefined) return { actions: [adoption] }
  const decision = decide(observed)
  const { actions = [], requeueAfterMs } = carriedOut(observed, decision)
  const next = decision.do === 'wait' ? asked(observed.progress, { effect, nowMs: observed.nowMs }) : { requeueAfterMs }
  return { actions: [...following(observed, decision), ...actions], ...next }
}

const resourceOf = ({ kind }: Operation): Resource => operationResource(kind as OperationKind) as Resource

/** Finalizer and owner come before anything else, so that what is made goes in every case. */
function adopt({ operation, dataset }: Observed): Action | undefined {
  const finalizer = OPERATION_FINALIZERS[operation.kind as OperationKind]
  const { finalizers = [], ownerReferences = [] } = operation.metadata
  const owner = dataset === undefined || isGoing(dataset) || isOwnedBy(operation, dataset) ? undefined : datasetReference(dataset)
  if (owner === undefined && hasFinalizer(operation, finalizer)) return undefined
  const metadata = {
    ...(hasFinalizer(operation, finalizer) ? {} : { finalizers: [...finalizers, finalizer] }),
    ...(owner === undefined
      ? {}
      : { ownerReferences: [...ownerReferences.filter(({ kind, name }) => kind !== owner.kind || name !== owner.name), owner] }),
  }
  return { do: 'patch', resource: resourceOf(operation), of: operation, patch: { metadata } }
}

function carriedOut(observed: Observed, decision: Decision): Partial<Plan> & { actions?: readonly Action[] } {
  const { operation, job, cronJob, nowMs } = observed
  switch (decision.do) {
    case 'release':
      return released(operation)
    case 'end':
      return { actions: [...deletion(JOBS, job), ...deletion(CRON_JOBS, cronJob)] }
    case 'accept':
      return changed(operation, accepted(operation, decision.mustWait, nowMs))
    case 'reject':
      return changed(operation, endStatus(observed, decision.end), rejected(operation, decision.end))
    case 'start':
      return changed(operation, { phase: 'Executing', infos: withoutWaiting(operation) })
    case 'wait':
      return decision.waiting === undefined ? goingOn(observed) : reported(observed, decision.waiting)
    case 'report':
      return reported(observed, decision.waiting)
    case 'make':
      return made(observed)
    case 'finish':
      return finished(observed, decision.end)
    case 'repeat':
      return changed(operation, {
        phase: 'Pending',
        duration: '-',
        infos: nextRunInfos(operation),
        ...timesOf(observed),
      })
    case 'keep':
      return {
        ...changed(operation, timesOf(observed)),
        ...(typeof decision.expiry === 'object' ? { requeueAfterMs: decision.expiry.inMs } : {}),
      }
    case 'expire':
      return { actions: [{ do: 'delete', resource: resourceOf(operation), of: operation }] }
  }
}

function released(operation: Operation): Partial<Plan> & { actions?: readonly Action[] } {
  const finalizer = OPERATION_FINALIZERS[operation.kind as OperationKind]
  return hasFinalizer(operation, finalizer)
    ? { actions: [removeFinalizer(resourceOf(operation), operation, finalizer)] }
    : (NOTHING_TO_DO as { actions: [] })
}

const deletion = (resource: Resource, of: KubeObject | undefined): Action[] =>
  of === undefined || isGoing(of) ? [] : [{ do: 'delete', resource, of, propagation: 'Background' }]

function finished(observed: Observed, end: End): { actions: readonly Action[] } {
  const { operation, simulated } = observed
  return changed(operation, finishedStatus(observed, end), [ended(operation, end, simulated)])
}

/** While its Job runs, what is known of that is said; while it waits for another operation, the flow says it. */
function goingOn(observed: Observed): { actions: readonly Action[] } {
  const { operation, simulated } = observed
  if (statusOf(operation).phase !== 'Executing') return changed(operation, timesOf(observed))
  const isNew = simulated !== undefined && statusOf(operation).infos?.[SIMULATED_INFO] === undefined
  return changed(operation, runningStatus(observed), isNew ? [isSimulated(operation, simulated)] : [])
}

function changed(
  operation: Operation,
  status: Partial<OperationStatus>,
  events: readonly EventIntent[] = [],
): { actions: readonly Action[] } {
  const before = statusOf(operation)
  const patch = mergePatchTo(before, { ...before, ...status })
  if (patch === undefined) return { actions: [] }
  return {
    actions: [{ do: 'patch', resource: resourceOf(operation), of: operation, patch: { status: patch }, subresource: 'status', events }],
  }
}

/** Says what it waits for, once. */
function reported({ operation }: Observed, waiting: Waiting): { actions: readonly Action[] } {
  const before = statusOf(operation).infos ?? {}
  if (before[WAITING_INFO] === waiting.message) return { actions: [] }
  return changed(operation, { infos: { ...before, [WAITING_INFO]: waiting.message } }, [waits(operation, waiting)])
}

function made(observed: Observed): { actions: readonly Action[] } {
  const { operation, built, stranger } = observed
  if (stranger !== undefined)
    return reported(observed, {
      reason: 'DataOperationExecutionFailed',
      message: `fail to execute data operation: ${stranger.kind} ${stranger.metadata.name ?? ''} exists and is not its own: delete it, or apply this operation under another name`,
    })
  const { configMap, job, cronJob } = built?.workload ?? {}
  const eventOnFailure = (why: string) => notMade(operation, why)
  const creation = (resource: Resource, object: KubeObject | undefined): Action[] =>
    object === undefined ? [] : [{ do: 'create', resource, object, eventOnFailure }]
  return { actions: [...creation(CONFIG_MAPS, configMap), ...creation(JOBS, job), ...creation(CRON_JOBS, cronJob)] }
}

const KEEPS_SCHEDULE: readonly Decision['do'][] = ['wait', 'finish', 'repeat', 'keep', 'start']

/** A CronJob follows the spec as long as there is one; a Job is what it was when it began. */
function following({ operation, cronJob, built }: Observed, { do: decided }: Decision): Action[] {
  if (!isCron(operation) || cronJob === undefined || isGoing(cronJob) || !KEEPS_SCHEDULE.includes(decided)) return []
  const { workload } = built ?? {}
  return [
    ...(workload?.configMap === undefined ? [] : [{ do: 'apply' as const, resource: CONFIG_MAPS as Resource, object: workload.configMap }]),
    ...(workload?.cronJob === undefined ? [] : [{ do: 'apply' as const, resource: CRON_JOBS as Resource, object: workload.cronJob }]),
  ]
}
