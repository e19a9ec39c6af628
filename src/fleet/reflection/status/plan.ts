/**
 * What to write of the reported status: pure, from what was observed to at most two patches, one of the binding and one of
 * the template, each with the version that the decision was based on.
 */
import { formatTime } from '../../../base/clock.ts'
import { deepEqual } from '../../../base/json.ts'
import type { BindingKind } from '../../../kinds/karmada/binding-kinds.ts'
import type { AggregatedStatusItem, Binding, Work } from '../../../kinds/karmada/index.ts'
import { clusterOfExecutionNamespace } from '../../../kinds/karmada/names.ts'
import { FULLY_APPLIED, WORK_APPLIED, WORK_DISPATCHING } from '../../../kinds/karmada/well-known.ts'
import { findCondition, isConditionTrue, setCondition } from '../../../kube/conditions.ts'
import { fieldAt, fieldsAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { refOf } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { Action, EventIntent, KeyedEvent, Plan } from '../../../runtime/controller.ts'
import { keptClusters } from '../../binding/index.ts'
import { fullyApplied } from './aggregate.ts'
import { mergeDifference } from './merge-difference.ts'

export interface Observed {
  kind: BindingKind
  binding: Binding
  items: readonly AggregatedStatusItem[]
  template: Reflected | undefined
  nowMs: number
  retryAfterMs?: number
}

/** The template, and the status that the interpreter makes for it; or why it could not. */
export type Reflected = { resource: Resource; object: KubeObject } & ({ aggregated: KubeObject } | { failure: string })

/**
 * Whether there is anything to report: a member has reported, or did before, or the object was scheduled to no cluster.
 * Earlier, the write for a binding that was just scheduled would be useless.
 */
export function hasReports(binding: Binding, works: readonly Work[]): boolean {
  const { status, spec } = binding
  if (works.some((work) => work.metadata.deletionTimestamp === undefined && hasReported(work))) return true
  if ((status?.aggregatedStatus ?? []).length > 0 || findCondition(status?.conditions, FULLY_APPLIED) !== undefined) return true
  return status?.lastScheduledTime !== undefined && keptClusters(spec).size === 0
}

/** Whether a cluster that the object goes to has not reported yet; that it cannot be reached counts as a report. */
export function isOutstanding({ spec }: Binding, works: readonly Work[]): boolean {
  const silent = keptClusters(spec)
  for (const work of works) if (hasReported(work)) silent.delete(clusterOfExecutionNamespace(work.metadata.namespace ?? '') ?? '')
  return silent.size > 0
}

/** That it is being dispatched is no report, as the result follows at once. That it is suspended is one. */
function hasReported({ status }: Work): boolean {
  if (findCondition(status?.conditions, WORK_APPLIED) !== undefined || (status?.manifestStatuses ?? []).length > 0) return true
  return findCondition(status?.conditions, WORK_DISPATCHING)?.status === 'False'
}

/** Whether the binding already has the status of its Works. */
export function isReported(binding: Binding, items: readonly AggregatedStatusItem[]): boolean {
  const wanted = fullyApplied(binding.spec, items)
  const recorded = findCondition(binding.status?.conditions, FULLY_APPLIED)
  const isSame = recorded?.status === wanted.status && recorded.reason === wanted.reason && recorded.message === wanted.message
  return isSame && deepEqual(binding.status?.aggregatedStatus ?? [], items)
}

export function plan(observed: Observed): Plan {
  const actions = [...bindingChange(observed), ...templateChange(observed)]
  return {
    actions: actions.length === 0 ? [] : [{ do: 'batch', actions, areIndependent: true }],
    events: failures(observed),
    requeueAfterMs: observed.retryAfterMs,
  }
}

const FAILED = 'AggregateStatusFailed'
const succeeded = (of: KubeObject, message: string): EventIntent => ({ of, type: 'Normal', reason: 'AggregateStatusSucceed', message })
const failed = (of: KubeObject, message: string): EventIntent => ({ of, type: 'Warning', reason: FAILED, message })

function bindingChange({ kind, binding, items, nowMs }: Observed): Action[] {
  if (isReported(binding, items)) return []
  const condition = fullyApplied(binding.spec, items)
  const becomesTrue = condition.status === 'True' && !isConditionTrue(binding.status?.conditions, FULLY_APPLIED)
  const message = `Update ${kind.display(refOf(binding))} with AggregatedStatus successfully.`
  const conditions = setCondition(binding.status?.conditions, condition, formatTime(nowMs))
  return [
    {
      do: 'patch',
      resource: kind.resource,
      of: binding,
      subresource: 'status',
      patch: { status: { aggregatedStatus: items, conditions } },
      ...(becomesTrue ? { events: succeeded(binding, message) } : {}),
      eventOnFailure: (why) => failed(binding, why),
    },
  ]
}

function templateChange({ template }: Observed): Action[] {
  if (template === undefined || !('aggregated' in template)) return []
  const { resource, object, aggregated } = template
  const omitsZeros = !resource.group.includes('.') || resource.group.endsWith('.k8s.io')
  const difference = mergeDifference(fieldsAt(object, 'status'), fieldsAt(aggregated, 'status'), { omitsZeros })
  if (difference === undefined) return []
  // Once for every generation of the spec, however often its members report.
  const isFirst = fieldAt(object, 'status') === undefined || Object.hasOwn(difference, 'observedGeneration')
  return [
    {
      do: 'patch',
      resource,
      of: object,
      subresource: 'status',
      patch: { status: difference },
      ...(isFirst ? { events: succeeded(object, 'Update Resource with AggregatedStatus successfully.') } : {}),
      eventOnFailure: (why) => failed(object, why),
    },
  ]
}

function failures({ binding, template }: Observed): KeyedEvent[] {
  if (template === undefined || !('failure' in template)) return []
  const recorded = (of: KubeObject): KeyedEvent => ({ key: `${of.kind} ${template.failure}`, ...failed(of, template.failure) })
  return [recorded(binding), recorded(template.object)]
}
