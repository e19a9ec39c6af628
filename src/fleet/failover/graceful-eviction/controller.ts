/**
 * An eviction is complete when the copies elsewhere are healthy, when its time is over, or when a user says so
 * (suppressDeletion: false): then its task is removed, and with it the last reason for the old copy to stay. Under purge
 * mode Directly the task stays until the old copy is gone. Writes spec.gracefulEvictionTasks. Runs again when the binding
 * changes, when one of its Works is gone, and when a task times out. Deletion: nothing to undo.
 */

import { BINDING_KINDS, type BindingKind } from '../../../kinds/karmada/binding-kinds.ts'
import { referredBy } from '../../../kinds/karmada/binding-reach.ts'
import type { Binding } from '../../../kinds/karmada/index.ts'
import { clusterOfExecutionNamespace } from '../../../kinds/karmada/names.ts'
import { WORKS } from '../../../kinds/karmada/resources.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Controller, defineController, NOTHING_TO_DO, type Plan, via } from '../../../runtime/controller.ts'
import { worksIndex, worksWithIdOf } from '../../binding/works-index.ts'
import { controllerName, evictionEvent } from '../eviction.ts'
import type { FailoverOptions } from '../options.ts'
import { assess } from './assess.ts'

interface Observed {
  binding: Binding | undefined
  /** Clusters that still have a Work of it. */
  copies: ReadonlySet<string>
  nowMs: number
}

export function gracefulEviction(
  resource: Resource<Binding>,
  options: Pick<FailoverOptions, 'gracefulEvictionTimeoutSeconds'>,
): Controller {
  const kind = BINDING_KINDS.find((one) => one.resource.kind === resource.kind) as BindingKind
  return defineController<Observed, Binding>({
    name: controllerName('fleet.failover.graceful-eviction', resource),
    component: resource.namespaced
      ? 'resource-binding-graceful-eviction-controller'
      : 'cluster-resource-binding-graceful-eviction-controller',
    for: resource,
    writes: [{ resource, verbs: ['patch'] }],
    isRelevant: ({ spec }) => (spec?.gracefulEvictionTasks ?? []).length > 0,
    indexes: [worksIndex(kind)],
    // All that matters is that a Work is gone.
    watches: [via(WORKS, (work) => [kind.namedBy(work)].flatMap((ref) => ref ?? []), { isRelevantUpdate: () => false, priority: 'low' })],
    observe(_ref, binding, read) {
      const works = binding === undefined ? [] : worksWithIdOf(read, kind, binding)
      const copies = new Set(works.flatMap(({ metadata }) => clusterOfExecutionNamespace(metadata.namespace ?? '') ?? []))
      return { binding, copies, nowMs: read.nowMs() }
    },
    plan: planWith(resource, options.gracefulEvictionTimeoutSeconds),
  })
}

/** Beyond the second in which the time is over, because times on objects are whole seconds. */
const MARGIN_MS = 1

const planWith =
  (resource: Resource, timeoutSeconds: number) =>
  ({ binding, copies, nowMs }: Observed): Plan => {
    if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
    const tasks = binding.spec?.gracefulEvictionTasks ?? []
    if (tasks.length === 0) return NOTHING_TO_DO
    const { kept, done, nextMs } = assess(binding, { nowMs, timeoutSeconds, copies })
    const later = nextMs === undefined ? {} : { requeueAfterMs: nextMs - nowMs + MARGIN_MS }
    if (kept.length === tasks.length && kept.every((task, i) => task === tasks[i])) return { actions: [], ...later }
    const events = done.flatMap((cluster) => [binding, ...referredBy(binding)].map((of) => evictionEvent(of, cluster, 'succeed')))
    return { actions: [{ do: 'patch', resource, of: binding, patch: { spec: { gracefulEvictionTasks: kept } }, events }], ...later }
  }
