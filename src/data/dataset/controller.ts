/**
 * Says of each dataset whether it is bound, failed, updating, or what it waits for, and how much of it is cached. Sole writer of: a
 * Dataset's status, its finalizer and its label `fluid.io/dataset-id`; the CacheRuntime that an annotation asks for, and of that
 * its spec and its mark `sluice.dev/requested`, until somebody else changes the spec. References are left to
 * `data.reference.dataset`. Runs again when the dataset, a runtime of its name, its class or profile, a pod of the runtime, a dataset
 * that refers to it, a grant about that, or, once it is to be deleted, a pod that uses it changes; asks the cache for its figures from
 * time to time. Deletion: the finalizer stays
 * while pods use the claim or other datasets refer to it; runtime, volume and claim go by others.
 */
import type { Clock } from '../../base/clock.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { isReference } from '../../kinds/fluid/reference.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { type Controller, defineController, type Effect, NOTHING_TO_DO } from '../../runtime/controller.ts'
import type { ReferenceConsent } from '../../runtime/reference-consent.ts'
import type { Engine, EngineOptions } from '../engines/engine.ts'
import { datasetEffects } from './effects.ts'
import { type Observed, observe } from './observe.ts'
import { plan } from './plan.ts'
import { DEFAULT_PACE, type Pace } from './report.ts'
import { INDEXES, WATCHES } from './triggers.ts'

export interface DatasetControllerOptions {
  engines: readonly Engine[]
  options: EngineOptions
  clock: Clock
  /** How often caches are asked for their figures (default: every 10 s while they change, down to every minute). */
  report?: Pace
  /** Whether datasets of other namespaces may refer to one where nobody stated anything (default: they may). */
  referenceConsent?: ReferenceConsent
}

export function datasetController({
  engines,
  options,
  clock,
  report = DEFAULT_PACE,
  referenceConsent = 'open',
}: DatasetControllerOptions): Controller {
  const effects = datasetEffects(clock, report)
  const deps = { engines, options, effects, pace: report, referenceConsent }
  return defineController<Observed | undefined, Dataset>({
    name: 'data.dataset',
    for: DATASETS,
    isRelevant: (dataset) => !isReference(dataset),
    watches: WATCHES,
    indexes: INDEXES,
    effects: [effects.mountUfs as Effect, effects.reportSummary as Effect],
    writes: [
      { resource: DATASETS, verbs: ['patch'] },
      { resource: DATASETS, subresource: 'status', verbs: ['patch'] },
      { resource: CACHE_RUNTIMES, verbs: ['create', 'patch'] },
    ],
    reads: [{ resource: DATASETS, verbs: ['get'] }],
    concurrency: 8,
    observe: (ref, dataset, read, client) => observe(deps, ref, dataset, { read, client }),
    plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed, effects)),
  })
}
