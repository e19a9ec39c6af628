/** From a decision about an operation to writes. Pure. */
import { deepEqual } from '../../base/json.ts'
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
import type { Observed } from './observe.ts'
import type { End } from './run.ts'
import { SIMULATED_INFO, simulatedEnd } from './simulated.ts'
import { isCron, statusOf } from './spec.ts'
import { besides } from './ssh.ts'

export function plan(observed: Observed): Plan {
  const { operation } = observed
  const adoption = isGoing(operation) ? undefined : adopt(observed)
  if (adoption !== undefined) return { actions: [adoption] }
  const decision = decide(observed)
  const { actions = [], requeueAfterMs } = carriedOut(observed, decision)
  return { actions: [...following(observed, decision), ...actions], requeueAfterMs }
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
      return changed(operation, { phase: 'Executing', infos: without(operation) })
    case 'wait':
      return decision.waiting === undefined ? goingOn(observed) : reported(observed, decision.waiting)
    case 'report':
      return reported(observed, decision.waiting)
    case 'make':
      return made(observed)
    case 'finish':
      return finished(observed, decision.end)
    case 'repeat':
      return changed(operation, { phase: 'Pending', duration: '-', infos: ofRun(operation, undefined), ...timesOf(observed) })
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

type Status = Partial<OperationStatus>

/** With `runAfter` the wait is recorded in the same write: there is no moment in which it could start too early. */
const accepted = (operation: Operation, mustWait: boolean, nowMs: number): Status => ({
  phase: 'Pending',
  duration: 'Unfinished',
  conditions: besides(operation, nowMs),
  infos: {},
  ...(mustWait ? { waitFor: { operationComplete: true }, waitingFor: { operationComplete: true } } : {}),
})

/** How it ended comes first, because Fluid's clients look there. */
const endStatus = ({ operation, nowMs }: Observed, { type, reason, message, at, duration }: End): Status => ({
  phase: type,
  duration,
  conditions: [{ type, status: 'True', reason, message, lastProbeTime: at, lastTransitionTime: at }, ...besides(operation, nowMs)],
})

function finished(observed: Observed, end: End): { actions: readonly Action[] } {
  const { operation, place, infos, simulated } = observed
  const status = {
    ...endStatus(observed, simulatedEnd(end, simulated)),
    infos: { ...ofRun(operation, simulated), ...infos },
    ...(place === undefined ? {} : { nodeAffinity: place }),
    ...timesOf(observed),
  }
  return changed(operation, status, [ended(operation, end, simulated)])
}

/** While its Job runs, what is known of that is said; while it waits for another operation, the flow says it. */
function goingOn(observed: Observed): { actions: readonly Action[] } {
  const { operation, simulated } = observed
  const { phase, infos = {} } = statusOf(operation)
  if (phase !== 'Executing') return changed(operation, timesOf(observed))
  const now = ofRun(operation, simulated)
  const isNew = simulated !== undefined && infos[SIMULATED_INFO] === undefined
  return changed(operation, { ...timesOf(observed), ...(deepEqual(infos, now) ? {} : { infos: now }) }, [
    ...(isNew ? [isSimulated(operation, simulated)] : []),
  ])
}

/** What is said of the run before it does not hold for the next. */
function ofRun(operation: Operation, simulated: string | undefined): Record<string, string> {
  const { [SIMULATED_INFO]: _, ...rest } = without(operation)
  return simulated === undefined ? rest : { ...rest, [SIMULATED_INFO]: simulated }
}

/** What is said there while it waits is not true any more. */
function without(operation: Operation): Record<string, string> {
  const { [WAITING_INFO]: _, ...rest } = statusOf(operation).infos ?? {}
  return rest
}

/** Of a schedule. */
function timesOf({ cronJob }: Observed): Status {
  const { lastScheduleTime, lastSuccessfulTime } = cronJob?.status ?? {}
  return {
    ...(lastScheduleTime === undefined ? {} : { lastScheduleTime }),
    ...(lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }),
  }
}

function changed(operation: Operation, status: Status, events: readonly EventIntent[] = []): { actions: readonly Action[] } {
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
