/**
 * Says on each source who uses it and whether it can be used. Sole writer of: a source's status, the finalizer
 * `datasource-finalizer`, and its deletion where the reclaim policy is `Delete`. Runs again when a claim is bound to it or no
 * longer, and when a cluster that may hold its data changes. Claims that are bound shortly after one another are written
 * together. Deletion: `gate.claim` unbinds the claims; when none is bound, the finalizer is removed.
 */
import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import { CLUSTERS } from '../../kinds/karmada/resources.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { MOST_CLAIM_REFS } from '../../kinds/volcano/well-known.ts'
import { type ObjectRef, refOf } from '../../kube/object-reference.ts'
import { type Controller, defineController, indexOf, type PassReader, via } from '../../runtime/controller.ts'
import { boundSourceOf } from '../claim/state.ts'
import { recordedIn } from './decide.ts'
import { clustersFor, isRelevantCluster, sourcesAbout, sourcesByCluster } from './locality.ts'
import { createPace, type Pace } from './pace.ts'
import { type Observed, plan, type Seen } from './plan.ts'

export interface SourceDeps {
  /** How many sources are worked on at once (default 10). */
  concurrency?: number
}

const BOUND_TO = 'bound-to'

export function sourceController(deps: SourceDeps = {}): Controller {
  const pace = createPace()
  return defineController<Seen, DataSource>({
    name: 'gate.source',
    for: DATA_SOURCES,
    watches: [
      via(DATA_SOURCE_CLAIMS, sourceOf, { isRelevantUpdate: (old, claim) => boundSourceOf(old) !== boundSourceOf(claim) }),
      via(CLUSTERS, (cluster, read) => sourcesAbout(cluster, read).map(refOf), { isRelevantUpdate: isRelevantCluster }),
    ],
    indexes: [
      sourcesByCluster,
      indexOf(DATA_SOURCE_CLAIMS, BOUND_TO, (claim) => {
        const name = boundSourceOf(claim)
        return name === undefined ? [] : [name]
      }),
    ],
    writes: [
      { resource: DATA_SOURCES, subresource: 'status', verbs: ['patch'] },
      { resource: DATA_SOURCES, verbs: ['patch', 'delete'] },
    ],
    reads: [{ resource: DATA_SOURCE_CLAIMS, verbs: ['get'] }],
    concurrency: deps.concurrency ?? 10,
    observe: (ref, source, read, client) => observe({ ref, source, pace }, read, client),
    plan,
  })
}

function sourceOf(claim: DataSourceClaim): ObjectRef[] {
  const name = boundSourceOf(claim)
  return name === undefined ? [] : [{ namespace: '', name }]
}

const PAUSE_MS = 100
const LONG_PAUSE_MS = 1000

/** Of many claims only some are listed, so a look changes little. */
const pauseFor = (bound: number): number => (bound > MOST_CLAIM_REFS ? LONG_PAUSE_MS : bound > 1 ? PAUSE_MS : 0)

interface Look {
  ref: ObjectRef
  source: DataSource | undefined
  pace: Pace
}

async function observe({ ref, source, pace }: Look, read: PassReader, client: Client): Promise<Seen> {
  if (source === undefined) {
    pace.forget(ref.name)
    return undefined
  }
  const nowMs = read.nowMs()
  const { resourceVersion } = source.metadata
  const waitMs = pace.waitMs(ref.name, resourceVersion, nowMs)
  if (waitMs > 0) return { waitMs }
  const bound = read.byIndex(DATA_SOURCE_CLAIMS, BOUND_TO, ref.name)
  const observed: Observed = {
    source,
    bound,
    clusters: clustersFor(source, read),
    recorded: await recordedClaims(source, bound, client),
    nowMs,
  }
  const pauseMs = pauseFor(bound.length)
  const isDue = pauseMs > 0 && plan(observed).actions.length > 0
  pace.looked(ref.name, { nowMs, pauseMs, replaces: isDue ? resourceVersion : undefined })
  return observed
}

/**
 * What has become of the claims that the status lists, asked only where a source may have to be deleted. Caches are of
 * different age: one that has not heard of a claim yet must not cost the source, so the server is asked.
 */
async function recordedClaims(source: DataSource, bound: readonly DataSourceClaim[], client: Client): Promise<Observed['recorded']> {
  const { name, deletionTimestamp } = source.metadata
  const mayGo = bound.length === 0 && source.spec?.reclaimPolicy === 'Delete' && deletionTimestamp === undefined
  const recorded = mayGo ? recordedIn(source) : []
  let result: Observed['recorded'] = recorded.length === 0 ? 'none' : 'gone'
  for (const ref of recorded) {
    const live = await ifFound(client.get(DATA_SOURCE_CLAIMS, { namespace: ref.namespace ?? '', name: ref.name ?? '' }))
    if (live === undefined || (ref.uid !== undefined && ref.uid !== live.metadata.uid)) continue
    if (boundSourceOf(live as DataSourceClaim) === name) return 'uncertain'
    result = 'there'
  }
  return result
}
