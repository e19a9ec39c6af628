/**
 * Keeps datasets that refer to another one as that one is, by watching it. Sole writer of: a reference's status, its finalizer and
 * its label `fluid.io/dataset-id`; and, once, of the ThinRuntime of its name, if there is none. Runs again when the reference, its
 * original, a grant about datasets, a namespace with originals, a runtime of its name, its volume or claim, or the client of the
 * original changes. Deletion: the finalizer stays while pods use the claim; the ThinRuntime goes with its owner.
 */
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { DATASETS, THIN_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { type Controller, defineController, NOTHING_TO_DO } from '../../../runtime/controller.ts'
import { type Observed, observe, type ReferenceDeps } from './observe.ts'
import { plan } from './plan.ts'
import { INDEXES, WATCHES } from './triggers.ts'

export const referenceDatasetController = (deps: ReferenceDeps): Controller =>
  defineController<Observed | undefined, Dataset>({
    name: 'data.reference.dataset',
    for: DATASETS,
    watches: WATCHES,
    indexes: INDEXES,
    writes: [
      { resource: DATASETS, verbs: ['patch'] },
      { resource: DATASETS, subresource: 'status', verbs: ['patch'] },
      { resource: THIN_RUNTIMES, verbs: ['create'] },
    ],
    reads: [{ resource: DATASETS, verbs: ['get'] }],
    concurrency: 8,
    observe: (ref, dataset, read, client) => observe(deps, ref, dataset, { read, client }),
    plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
  })
