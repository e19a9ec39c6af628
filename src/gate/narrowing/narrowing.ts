/**
 * What the gate puts into the narrowing seam: a workload with claims is held until all of them are met, then allowed only in
 * the clusters that hold all of its data. Reads what `gate.claim` has decided; decides nothing about sources itself.
 */

import type { Binding, Cluster } from '../../kinds/karmada/index.ts'
import { CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { clustersOf, matches } from '../../kinds/volcano/matching.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { ON_LOCALITY_CHANGE, type WaitReason } from '../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type ObjectRef, refOf } from '../../kube/object-reference.ts'
import { indexOf, type Reader, via } from '../../runtime/controller.ts'
import type { Needs } from '../../runtime/needs.ts'
import { HELD_REASON, type Narrowing, RELEASED } from '../../runtime/seams/narrowing.ts'
import { claimState } from '../claim/state.ts'
import { workloadKindOf } from '../workload/index.ts'
import { areSameTraits, isSameClaim, isSameSource } from './changes.ts'
import type { ClaimedTemplates } from './claimed-templates.ts'
import { CLAIMS_OF_INDEXES, claimsOf, lookupOf } from './claims-of.ts'
import { type ClaimFact, decide } from './decide.ts'

const BY_SOURCE = 'gate.claims-by-source'
const MOVING = 'gate.moving-claims'
const HELD = 'gate.waiting-bindings'
const UNPLACED = ''
/** Reasons that a change of a Cluster may end. */
const ABOUT_CLUSTERS: readonly WaitReason[] = ['NoLocality', 'NoCommonCluster', 'DataClusterUnavailable']

export interface NarrowingDeps {
  claimed: Pick<ClaimedTemplates, 'bindingsOf'>
}

export const gateNarrowing = ({ claimed }: NarrowingDeps): Narrowing => ({
  name: 'gate',
  watches: [
    via(DATA_SOURCE_CLAIMS, (claim) => claimed.bindingsOf(claim), { isRelevantUpdate: (old, claim) => !isSameClaim(old, claim) }),
    via(
      DATA_SOURCES,
      ({ metadata }, read) =>
        read.byIndex(DATA_SOURCE_CLAIMS, BY_SOURCE, metadata.name ?? '').flatMap((claim) => claimed.bindingsOf(claim)),
      { isRelevantUpdate: (old, source) => !isSameSource(old, source) },
    ),
    via(CLUSTERS, (_cluster, read) => [...waitingForClusters(read), ...moving(claimed, read)], {
      isRelevantUpdate: (old, cluster) => !areSameTraits(old, cluster),
    }),
  ],
  indexes: [
    ...CLAIMS_OF_INDEXES,
    indexOf(DATA_SOURCE_CLAIMS, BY_SOURCE, (claim) => [claimState(claim).source ?? []].flat()),
    indexOf(DATA_SOURCE_CLAIMS, MOVING, ({ metadata }) => (metadata.annotations?.[ON_LOCALITY_CHANGE] === 'Move' ? ['Move'] : [])),
    indexOf(RESOURCE_BINDINGS, HELD, heldOrUnplaced),
  ],
  olderThanTemplate: [DATA_SOURCE_CLAIMS],
  olderThanAllowed: [DATA_SOURCES],
  of({ template, policy, binding, needs }, read) {
    const { claims, missing, unreadable } = claimsOf(template, isWorkload(template, needs), lookupOf(read))
    const clusters = claims.length === 0 ? [] : read.list<Cluster>(CLUSTERS)
    const facts = claims.map((claim) => factOf(claim, clusters, read))
    return decide({ claims: facts, missing, unreadable, policy, clusters, binding, nowMs: read.nowMs() })
  },
})

/** Kinds with replicas or components, and others that are known to run. What is not known yet counts as one: unknown never opens a gate. */
const isWorkload = ({ apiVersion, kind }: KubeObject, needs: Needs | undefined): boolean =>
  needs === undefined ||
  workloadKindOf(apiVersion, kind) !== undefined ||
  needs.replicas !== undefined ||
  (needs.components?.length ?? 0) > 0

function factOf(claim: DataSourceClaim, clusters: readonly Cluster[], read: Reader): ClaimFact {
  const { isCurrent, source: name, waits } = claimState(claim)
  if (!isCurrent) return { claim, state: { is: 'unknown' } }
  const source = name === undefined ? undefined : read.get<DataSource>(DATA_SOURCES, '', name)
  if (waits !== undefined) return { claim, state: { is: 'waiting', ...waits, ...(name === undefined ? {} : { source: name }) } }
  // The claim's controller will say what became of it. It may not have seen yet that the source is another one now.
  const isUsable = source !== undefined && source.metadata.deletionTimestamp === undefined && matches(claim, source)
  if (!isUsable) return { claim, state: { is: 'unknown' } }
  return { claim, state: { is: 'met', source, clusters: clustersOf(source, clusters).named } }
}

/** By the reason of its hold; what was released and has no cluster yet is decided anew when there are others. */
function heldOrUnplaced({ metadata: { annotations = {} }, spec }: Binding): string[] {
  const reason = annotations[HELD_REASON]
  if (reason !== undefined) return [reason]
  return annotations[RELEASED] !== undefined && (spec?.clusters?.length ?? 0) === 0 ? [UNPLACED] : []
}

const waitingForClusters = (read: Reader): ObjectRef[] =>
  [...ABOUT_CLUSTERS, UNPLACED].flatMap((reason) => read.byIndex<Binding>(RESOURCE_BINDINGS, HELD, reason).map(refOf))

const moving = (claimed: NarrowingDeps['claimed'], read: Reader): ObjectRef[] =>
  read.byIndex<DataSourceClaim>(DATA_SOURCE_CLAIMS, MOVING, 'Move').flatMap((claim) => claimed.bindingsOf(claim))
