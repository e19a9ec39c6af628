/**
 * What the gate puts into the narrowing seam: a workload with claims is held until all of them are met, then allowed only in
 * the clusters that hold all of its data. Reads what `gate.claim` has decided; decides nothing about sources itself.
 */

import type { Binding, Cluster } from '../../kinds/karmada/index.ts'
import { CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { clustersOf } from '../../kinds/volcano/matching.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { ON_LOCALITY_CHANGE, type WaitReason } from '../../kinds/volcano/well-known.ts'
import type { ObjectRef } from '../../kube/object-reference.ts'
import { refOf } from '../../kube/object-reference.ts'
import { indexOf, type Reader, via } from '../../runtime/controller.ts'
import type { Needs } from '../../runtime/needs.ts'
import { HELD_REASON, type Narrowing } from '../../runtime/seams/narrowing.ts'
import { claimState } from '../claim/state.ts'
import { areSameTraits, isSameClaim, isSameSource } from './changes.ts'
import type { ClaimedTemplates } from './claimed-templates.ts'
import { CLAIMS_OF_INDEXES, claimsOf, lookupOf } from './claims-of.ts'
import { type ClaimFact, decide } from './decide.ts'

const BY_SOURCE = 'gate.claims-by-source'
const MOVING = 'gate.moving-claims'
const HELD = 'gate.held-bindings'
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
    via(CLUSTERS, (_cluster, read) => [...heldForClusters(read), ...moving(claimed, read)], {
      isRelevantUpdate: (old, cluster) => !areSameTraits(old, cluster),
    }),
  ],
  indexes: [
    ...CLAIMS_OF_INDEXES,
    indexOf(DATA_SOURCE_CLAIMS, BY_SOURCE, (claim) => [claimState(claim).source ?? []].flat()),
    indexOf(DATA_SOURCE_CLAIMS, MOVING, ({ metadata }) => (metadata.annotations?.[ON_LOCALITY_CHANGE] === 'Move' ? ['Move'] : [])),
    indexOf(RESOURCE_BINDINGS, HELD, ({ metadata }) => [metadata.annotations?.[HELD_REASON] ?? []].flat()),
  ],
  olderThanTemplate: [DATA_SOURCE_CLAIMS],
  of({ template, policy, binding, needs }, read) {
    const { claims, missing, unreadable } = claimsOf(template, isWorkload(needs), lookupOf(read))
    const clusters = claims.length === 0 ? [] : read.list<Cluster>(CLUSTERS)
    const facts = claims.map((claim) => factOf(claim, clusters, read))
    return decide({ claims: facts, missing, unreadable, policy, clusters, binding, nowMs: read.nowMs() })
  },
})

/** Kinds with replicas or components. What is not known yet counts as one: unknown never opens a gate. */
const isWorkload = (needs: Needs | undefined): boolean =>
  needs === undefined || needs.replicas !== undefined || (needs.components?.length ?? 0) > 0

function factOf(claim: DataSourceClaim, clusters: readonly Cluster[], read: Reader): ClaimFact {
  const { isCurrent, source: name, waits } = claimState(claim)
  if (!isCurrent) return { claim, state: { is: 'unknown' } }
  const source = name === undefined ? undefined : read.get<DataSource>(DATA_SOURCES, '', name)
  if (waits !== undefined) return { claim, state: { is: 'waiting', ...waits, ...(name === undefined ? {} : { source: name }) } }
  // The claim's controller will say what became of it.
  if (source === undefined || source.metadata.deletionTimestamp !== undefined) return { claim, state: { is: 'unknown' } }
  return { claim, state: { is: 'met', source, clusters: clustersOf(source, clusters).named } }
}

const heldForClusters = (read: Reader): ObjectRef[] =>
  ABOUT_CLUSTERS.flatMap((reason) => read.byIndex<Binding>(RESOURCE_BINDINGS, HELD, reason).map(refOf))

const moving = (claimed: NarrowingDeps['claimed'], read: Reader): ObjectRef[] =>
  read.byIndex<DataSourceClaim>(DATA_SOURCE_CLAIMS, MOVING, 'Move').flatMap((claim) => claimed.bindingsOf(claim))
