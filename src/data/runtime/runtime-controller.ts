/**
 * What the controllers of all kinds of runtimes do: they keep the objects that serve a runtime as its engine says, and say on
 * the runtime how it is served. Each is the sole writer of its runtimes' status, finalizer, owner reference to the Dataset and
 * label `fluid.io/dataset-id`, and of the objects that belong to them. It runs again when the runtime, its dataset, class or
 * profile, one of its objects or pods changes, and while workers are to leave, when a pod that reads its dataset comes or ends.
 * Deletion: a runtime stays until the volume of its dataset is gone and its workers have removed what they stored on nodes; the rest is
 * garbage-collected with it. Nothing is made for a runtime or a dataset that goes.
 */
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIME_CLASSES, DATASETS, THIN_RUNTIME_PROFILES } from '../../kinds/fluid/resources.ts'
import {
  CONFIG_MAPS,
  DAEMON_SETS,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  SECRETS,
  SERVICES,
} from '../../kinds/kubernetes/resources.ts'
import { type Controller, defineController, type Effect, NOTHING_TO_DO } from '../../runtime/controller.ts'
import type { Engine } from '../engines/engine.ts'
import { clearEffect } from './clear.ts'
import { decide } from './decide.ts'
import type { RuntimeDeps } from './deps.ts'
import { scalingEffects } from './effects.ts'
import { type Observed, observe } from './observe.ts'
import { plan } from './plan.ts'
import { CHOOSING } from './scale-in.ts'
import { indexesOf, isOthers, watchesOf } from './triggers.ts'

export function runtimeController(engine: Engine, deps: Omit<RuntimeDeps, 'engine'>): Controller {
  const name = `data.runtime.${engine.type}`
  const clear = clearEffect(engine.type, deps.clock)
  const making = ['create', 'patch', 'delete']
  const effects = scalingEffects(engine.type, deps.clock)
  const chooses = CHOOSING.includes(engine.type)
  return defineController<Observed | undefined>({
    name,
    for: engine.resource,
    isRelevant: (runtime) => !isOthers(runtime),
    watches: watchesOf(engine),
    indexes: indexesOf(engine),
    effects: [
      ...(chooses ? [effects.report as Effect, effects.handOver as Effect, effects.takeBack as Effect] : []),
      ...(engine.clearing === undefined ? [] : [clear as Effect]),
    ],
    writes: [
      { resource: engine.resource, verbs: ['patch'] },
      { resource: engine.resource, subresource: 'status', verbs: ['patch'] },
      // Never read: what is in it is known to pods that mount it.
      { resource: SECRETS, verbs: ['create'] },
      { resource: CONFIG_MAPS, verbs: making },
      { resource: SERVICES, verbs: making },
      { resource: ADVANCED_STATEFUL_SETS, verbs: making },
      { resource: DAEMON_SETS, verbs: making },
    ],
    reads: [
      ...[engine.resource, DATASETS, CACHE_RUNTIME_CLASSES, THIN_RUNTIME_PROFILES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES].map(
        (resource) => ({ resource, verbs: ['get'] }),
      ),
      // Who reads on the node of a worker that is about to leave.
      ...(chooses ? [{ resource: PODS, verbs: ['list'] }] : []),
    ],
    concurrency: 8,
    observe: (_key, runtime, read, client) =>
      runtime === undefined || isOthers(runtime)
        ? undefined
        : observe({ deps: { ...deps, engine }, runtime, read, client, manager: name, effects, clear }),
    plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed, decide(observed))),
  })
}
