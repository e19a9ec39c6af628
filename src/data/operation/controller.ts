/**
 * Carries out data operations of one kind; the four controllers differ in nothing but the kind. Sole writer of: finalizer and owner
 * reference of an operation, its status (but for the wait, which is the flow's once it is set), its Job or CronJob and its
 * ConfigMap. Runs again when the operation, its dataset, its Job or CronJob, a pod of that, or who waits for it changes; time alone
 * counts for ttlSecondsAfterFinished. While its program runs and serves its progress, asks it every two seconds. Deletion: the Job
 * or CronJob first; the finalizer stays until that is gone.
 */
import type { Operation } from '../../kinds/fluid/operation.ts'
import { CACHE_RUNTIME_CLASSES, CACHE_RUNTIMES } from '../../kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../kinds/gateway/reference-grant.ts'
import { CONFIG_MAPS, CRON_JOBS, JOBS, NODES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Resource } from '../../kube/resource.ts'
import { type Access, type Controller, defineController, type Effect, NOTHING_TO_DO, via } from '../../runtime/controller.ts'
import { GRANT_INDEXES } from '../../runtime/reference-consent.ts'
import { type Observed, type OperationDeps, observe } from './observe.ts'
import { plan } from './plan.ts'
import { PROGRAM_READS } from './programs.ts'
import { progressEffect } from './progress/effect.ts'
import { isRelevantUpdate, operationIndexes, operationWatches } from './triggers.ts'

const unreachable = async (): Promise<string> => {
  throw new Error('this process cannot reach pods')
}

const access = (resource: Resource, ...verbs: string[]): Access => ({ resource, verbs })

export function operationController(name: string, resource: Resource<Operation>, deps: OperationDeps): Controller {
  // Declared in any case; without a way to pods it is never requested.
  const effect = progressEffect(name, deps.getText ?? unreachable)
  const reachable = deps.getText === undefined ? undefined : effect
  return defineController<Observed | undefined, Operation>({
    name,
    for: resource,
    isRelevantUpdate,
    watches: [
      ...operationWatches(resource),
      // Read when something else changes.
      ...PROGRAM_READS.map((read) => via(read as Resource, () => [], { isRelevantUpdate: () => false })),
      via(ReferenceGrant.resource, () => [], { isRelevantUpdate: () => false }),
    ],
    indexes: [...operationIndexes(resource), ...GRANT_INDEXES],
    writes: [
      access(resource as Resource, 'patch', 'delete'),
      { resource: resource as Resource, subresource: 'status', verbs: ['patch'] },
      access(CONFIG_MAPS, 'create', 'patch'),
      access(JOBS, 'create', 'delete'),
      access(CRON_JOBS, 'create', 'patch', 'delete'),
    ],
    reads: [access(PODS, 'list'), access(NODES, 'get'), access(CACHE_RUNTIMES, 'get'), access(CACHE_RUNTIME_CLASSES, 'get')],
    effects: [effect as Effect],
    concurrency: 4,
    observe: async (_key, operation, read, client) =>
      operation === undefined ? undefined : observe(operation, { ...deps, effect: reachable, read, client }),
    plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed, reachable)),
  })
}
