/**
 * A cluster that a binding leaves is done with when the copies elsewhere are healthy, when the time is over, or when a person
 * says so (suppressDeletion: false): then its task goes, and with it the last reason for the old copy to stay. Writes
 * spec.gracefulEvictionTasks. Runs again when the binding changes, and when a task times out. Deletion: nothing to undo.
 */
import type { Resource } from '../../../client/resource.ts'
import type { Binding } from '../../../kinds/karmada/index.ts'
import { type Controller, defineController, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { controllerName, evictionEvent, templateOf } from '../eviction.ts'
import type { FailoverOptions } from '../options.ts'
import { assess } from './assess.ts'

interface Observed {
  binding: Binding | undefined
  nowMs: number
}

export function gracefulEviction(
  resource: Resource<Binding>,
  options: Pick<FailoverOptions, 'gracefulEvictionTimeoutSeconds'>,
): Controller {
  return defineController<Observed, Binding>({
    name: controllerName('fleet.failover.graceful-eviction', resource),
    component: resource.namespaced
      ? 'resource-binding-graceful-eviction-controller'
      : 'cluster-resource-binding-graceful-eviction-controller',
    for: resource,
    writes: [{ resource, verbs: ['patch'] }],
    concerns: ({ spec }) => (spec?.gracefulEvictionTasks ?? []).length > 0,
    observe: (_ref, binding, read) => ({ binding, nowMs: read.nowMs() }),
    plan: planWith(resource, options.gracefulEvictionTimeoutSeconds),
  })
}

/** Past the second in which the time is over, because times on objects are whole seconds. */
const MARGIN_MS = 1

const planWith =
  (resource: Resource, timeoutSeconds: number) =>
  ({ binding, nowMs }: Observed): Plan => {
    if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
    const tasks = binding.spec?.gracefulEvictionTasks ?? []
    if (tasks.length === 0) return NOTHING_TO_DO
    const { kept, done, nextMs } = assess(binding, { nowMs, timeoutSeconds })
    const later = nextMs === undefined ? {} : { recheckAfterMs: nextMs - nowMs + MARGIN_MS }
    if (kept.length === tasks.length && kept.every((task, i) => task === tasks[i])) return { actions: [], ...later }
    const tells = done.flatMap((cluster) => [binding, templateOf(binding)].map((of) => evictionEvent(of, cluster, 'succeed')))
    return { actions: [{ do: 'patch', resource, of: binding, patch: { spec: { gracefulEvictionTasks: kept } }, tells }], ...later }
  }
