/**
 * Binds claims to sources and says on each claim what it waits for. Sole writer of a claim's status; also removes the
 * finalizer that volcano-global puts on claims. Runs again when a source that may match, the source that is bound, one of its
 * clusters, a consent, a workload of the claim or a workload that makes its data changes. Deletion: nothing to undo, so
 * claims have no finalizer of ours, and nothing is written to one that is being deleted.
 */
import type { DataSourceClaim } from '../../kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS } from '../../kinds/volcano/resources.ts'
import { type Controller, defineController } from '../../runtime/controller.ts'
import { createPace } from '../source/pace.ts'
import type { ClaimDeps } from './deps.ts'
import { CLAIM_INDEXES } from './indexes.ts'
import { type Observer, observe } from './observe.ts'
import { plan, type Seen } from './plan.ts'
import { signalsOf, watchesOf } from './triggers.ts'

export function claimController(deps: ClaimDeps): Controller {
  const observer: Observer = { deps, pace: createPace(), early: new Set() }
  return defineController<Seen, DataSourceClaim>({
    name: 'gate.claim',
    for: DATA_SOURCE_CLAIMS,
    watches: watchesOf(deps),
    signals: signalsOf(deps, observer.early),
    indexes: CLAIM_INDEXES,
    writes: [
      { resource: DATA_SOURCE_CLAIMS, subresource: 'status', verbs: ['patch'] },
      { resource: DATA_SOURCE_CLAIMS, verbs: ['patch'] },
    ],
    concurrency: deps.concurrency ?? 10,
    observe: (ref, claim, read) => observe(observer, ref, claim, read),
    plan,
  })
}
