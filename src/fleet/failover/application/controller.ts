/**
 * An application that has been unhealthy in a cluster for longer than its policy tolerates leaves that cluster. Since when
 * it is unhealthy is recorded on the binding (annotation sluice.dev/unhealthy-since), so that a restart does not reset the
 * count. Writes that annotation, and spec.clusters with spec.gracefulEvictionTasks together. Runs again when the binding
 * changes, and when the time is over. Deletion: nothing to undo.
 */

import type { Binding } from '../../../kinds/karmada/index.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Controller, defineController } from '../../../runtime/controller.ts'
import type { Interpreter } from '../../interpreter/interpreter.ts'
import { controllerName } from '../eviction.ts'
import type { FailoverGates } from '../options.ts'
import { type ObservedApplication, planFor, UNHEALTHY_SINCE } from './plan.ts'

export function applicationFailover(resource: Resource<Binding>, interpreter: Pick<Interpreter, 'has'>, gates: FailoverGates): Controller {
  return defineController<ObservedApplication, Binding>({
    name: controllerName('fleet.failover.application', resource),
    component: resource.namespaced
      ? 'resource-binding-application-failover-controller'
      : 'cluster-resource-binding-application-failover-controller',
    for: resource,
    writes: [{ resource, verbs: ['patch'] }],
    isRelevant: ({ metadata, spec }) => spec?.failover?.application !== undefined || metadata.annotations?.[UNHEALTHY_SINCE] !== undefined,
    observe: (_ref, binding, read) => ({
      binding,
      isJudged: binding?.spec?.resource !== undefined && interpreter.has(binding.spec.resource, 'InterpretHealth'),
      nowMs: read.nowMs(),
    }),
    plan: planFor(resource, gates),
  })
}
