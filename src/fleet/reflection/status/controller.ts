/**
 * Reports the status of a binding's object: the statuses of its Works become the binding's aggregatedStatus and its
 * condition FullyApplied and, through the interpreter, the status of the template. Sole writer of these. Runs again when a
 * Work's status, the binding's clusters, the template or a rule changes. Reports that arrive close together are written
 * together: the first waits a moment for the others, longest for a cluster that has not reported yet. Deletion: nothing to
 * undo; a binding that is being deleted is left alone.
 */
import { messageOf } from '../../../base/error-text.ts'
import { deepEqual } from '../../../base/json.ts'
import type { BindingKind } from '../../../kinds/karmada/binding-kinds.ts'
import type { AggregatedStatusItem, Binding, Work } from '../../../kinds/karmada/index.ts'
import { WORKS } from '../../../kinds/karmada/resources.ts'
import { FULLY_APPLIED } from '../../../kinds/karmada/well-known.ts'
import { EVERY_RESOURCE } from '../../../kinds/kubernetes/resources.ts'
import { findCondition } from '../../../kube/conditions.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { type Controller, defineController, NOTHING_TO_DO, type PassReader, type Plan, via } from '../../../runtime/controller.ts'
import type { Templates } from '../../../runtime/templates.ts'
import { createRetries, createTemplateWatch } from '../../binding/index.ts'
import { worksIndex, worksWithIdOf } from '../../binding/works-index.ts'
import type { Interpreter } from '../../interpreter/interpreter.ts'
import { aggregatedItems } from './aggregate.ts'
import { createGathering } from './gathering.ts'
import { hasReports, isOutstanding, isReported, type Observed, plan, type Reflected } from './plan.ts'

export interface ReflectionDeps {
  templates: Templates
  interpreter: Interpreter
  /** How long the first report waits for others, in milliseconds (default 100; 0: not at all). */
  gatherMs?: number
  /** How many bindings are processed at once (default 10). */
  concurrency?: number
}

type Seen = Observed | { waitMs: number } | undefined

export function bindingStatus(kind: BindingKind, deps: ReflectionDeps): Controller {
  const { templates, interpreter } = deps
  const watch = createTemplateWatch(kind, { templates, interpreter, watchesStatus: true })
  const retries = createRetries()
  const gathering = createGathering(deps.gatherMs ?? 100)

  async function observe(ref: ObjectRef, binding: Binding | undefined, read: PassReader): Promise<Seen> {
    const key = `${ref.namespace}/${ref.name}`
    const works = binding === undefined ? [] : worksWithIdOf(read, kind, binding)
    if (binding === undefined || binding.metadata.deletionTimestamp !== undefined || !hasReports(binding, works)) {
      gathering.end(key)
      retries.afterMs(key, false)
      return undefined
    }
    const items = aggregatedItems(works)
    const nowMs = read.nowMs()
    const at = { nowMs, isOutstanding: isOutstanding(binding, works) }
    const waitMs = isReported(binding, items) ? gathering.end(key) : gathering.waitMs(key, binding.metadata.resourceVersion ?? '', at)
    if (waitMs > 0) return { waitMs }
    const template = await reflected(binding, items)
    const hasFailed = template !== undefined && 'failure' in template
    return { kind, binding, items, template, nowMs, retryAfterMs: retries.afterMs(key, hasFailed) }
  }

  async function reflected(binding: Binding, items: readonly AggregatedStatusItem[]): Promise<Reflected | undefined> {
    const object = watch.templateOf(binding)
    const resource = templates.resourceOf(binding.spec.resource.apiVersion, binding.spec.resource.kind)
    if (object === undefined || resource === undefined || !interpreter.has(object, 'AggregateStatus')) return undefined
    try {
      return { resource, object, aggregated: await interpreter.aggregate(object, items) }
    } catch (error) {
      return { resource, object, failure: messageOf(error) }
    }
  }

  return defineController<Seen, Binding>({
    name: kind.controllerName('fleet.reflection.status'),
    component: kind.resource.namespaced ? 'resource-binding-status-controller' : 'cluster-resource-binding-status-controller',
    for: kind.resource,
    watches: [
      via(
        WORKS,
        (work) => {
          const ref = kind.namedBy(work)
          return ref === undefined ? [] : [ref]
        },
        { isRelevantUpdate: isAnotherReport },
      ),
    ],
    signals: [watch.signal],
    indexes: [worksIndex(kind)],
    writes: [
      { resource: kind.resource, subresource: 'status', verbs: ['patch'] },
      { resource: EVERY_RESOURCE, subresource: 'status', verbs: ['patch'] },
    ],
    isRelevantUpdate: isAnotherMatter,
    concurrency: deps.concurrency ?? 10,
    observe,
    plan: planned,
  })
}

function planned(seen: Seen): Plan {
  if (seen === undefined) return NOTHING_TO_DO
  return 'waitMs' in seen ? { actions: [], requeueAfterMs: seen.waitMs } : plan(seen)
}

const isAnotherReport = (old: Work, work: Work): boolean =>
  old.metadata.deletionTimestamp !== work.metadata.deletionTimestamp ||
  !deepEqual(old.metadata.labels, work.metadata.labels) ||
  !deepEqual(old.status, work.status)

/** What the scheduler writes to the status does not matter, except whether it has run at all. */
function isAnotherMatter(old: Binding, binding: Binding): boolean {
  const own = ({ status }: Binding): unknown => [
    status?.aggregatedStatus,
    findCondition(status?.conditions, FULLY_APPLIED),
    status?.lastScheduledTime !== undefined,
  ]
  const isTheSame = old.metadata.generation === binding.metadata.generation && deepEqual(old.metadata.labels, binding.metadata.labels)
  return !isTheSame || !deepEqual(own(old), own(binding))
}
