/** What makes `gate.claim` look at a claim again: look-ups through indexes, never scans. */
import { deepEqual } from '../../base/json.ts'
import { ReferenceGrant } from '../../kinds/gateway/reference-grant.ts'
import type { Binding, ResourceBinding } from '../../kinds/karmada/index.ts'
import { CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { DataSource, type DataSourceClaim } from '../../kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { PRODUCER_NAMESPACE } from '../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type ObjectRef, refOf, refOfKey } from '../../kube/object-reference.ts'
import { type Signal, via, type Watch } from '../../runtime/controller.ts'
import { isAbout } from '../../runtime/reference-consent.ts'
import { HELD_BECAUSE, HELD_BY, HELD_REASON, RELEASED } from '../../runtime/seams/narrowing.ts'
import { isRelevantCluster, sourcesAbout } from '../source/locality.ts'
import { progressOf, workloadKindOf } from '../workload/index.ts'
import type { ClaimDeps } from './deps.ts'
import { boundTo, claimsAbout, madeIn, unboundClaims } from './indexes.ts'
import { claimState } from './state.ts'

export function watchesOf(deps: ClaimDeps): Watch[] {
  return [
    via(DATA_SOURCES, (source, read) => claimsAbout(source, read).map(refOf), { isRelevantUpdate: isRelevantSource }),
    via(CLUSTERS, (cluster, read) => sourcesAbout(cluster, read).flatMap((source) => boundTo(source, read).map(refOf)), {
      isRelevantUpdate: isRelevantCluster,
    }),
    via(RESOURCE_BINDINGS, (binding) => concernedBy(deps, binding), { isRelevantUpdate: isRelevantBinding }),
    via(DATA_SOURCE_CLAIMS, (claim) => behind(deps, claim), { isRelevantUpdate: isRelevantClaim }),
    via(
      ReferenceGrant.resource,
      (grant, read) =>
        isAbout(grant, DataSource)
          ? [...unboundClaims(read), ...madeIn(grant.metadata.namespace ?? '', read).flatMap((source) => boundTo(source, read))].map(refOf)
          : [],
      { isRelevantUpdate: (old, grant) => isGoing(old) !== isGoing(grant) || !deepEqual(old.spec, grant.spec) },
    ),
  ]
}

const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

/** Its status, which other controllers write, decides nothing here. */
const isRelevantSource = (old: DataSource, source: DataSource): boolean =>
  isGoing(old) !== isGoing(source) ||
  old.metadata.annotations?.[PRODUCER_NAMESPACE] !== source.metadata.annotations?.[PRODUCER_NAMESPACE] ||
  !deepEqual(old.spec, source.spec)

/** Claims of the workload, and claims on what it makes. */
function concernedBy({ templates, claimed, producers, waiting }: ClaimDeps, binding: ResourceBinding): ObjectRef[] {
  const of = binding.spec?.resource
  const template = of === undefined ? undefined : templates.get(of)
  if (template === undefined) return []
  return [...claimed.claimsOf(template).map(refOfKey), ...producers.madeBy(template).flatMap((name) => waiting.on(name))]
}

const MARKS = [HELD_BECAUSE, HELD_REASON, HELD_BY, RELEASED]

/** Members report all the time; only what a workload waits for, where it is and how it ends matters. */
function isRelevantBinding(old: ResourceBinding, binding: ResourceBinding): boolean {
  const own = ({ metadata, spec }: Binding): unknown => [
    isGoing({ metadata } as KubeObject),
    MARKS.map((mark) => metadata.annotations?.[mark]),
    spec?.clusters?.map(({ name }) => name),
    spec?.replicas !== undefined,
    (spec?.components?.length ?? 0) > 0,
    spec?.resource?.uid,
  ]
  return !deepEqual(own(old), own(binding)) || stateOf(old) !== stateOf(binding)
}

function stateOf(binding: ResourceBinding): string | undefined {
  const of = binding.spec?.resource
  const kind = of === undefined ? undefined : workloadKindOf(of.apiVersion, of.kind)
  return kind === undefined ? undefined : progressOf(kind, binding).state
}

/** The claims on what the workloads of this claim make: whether it is resolved decides whether they wait in a circle. */
function* waitingBehind({ claimed, producers, waiting }: ClaimDeps, claim: DataSourceClaim): Iterable<ObjectRef> {
  for (const { object } of claimed.of(claim)) for (const name of producers.madeBy(object)) yield* waiting.on(name)
}

const behind = (deps: ClaimDeps, claim: DataSourceClaim): ObjectRef[] => [...waitingBehind(deps, claim)]

/** Whether those who wait behind it may come to another conclusion. */
const isRelevantClaim = (old: DataSourceClaim, claim: DataSourceClaim): boolean =>
  old.metadata.generation !== claim.metadata.generation || !deepEqual(claimState(old), claimState(claim))

/** Workloads and producers that come, go or change; and, for claims that were looked at too early, that all are known. */
export function signalsOf(deps: ClaimDeps, early: Set<string>): Signal[] {
  return [
    { subscribe: (enqueue) => deps.claimed.subscribe((ref) => enqueue(ref)) },
    {
      subscribe: (enqueue) =>
        deps.producers.subscribe((name) => {
          for (const ref of deps.waiting.on(name)) enqueue(ref)
        }),
    },
    {
      subscribe: (enqueue) =>
        deps.templates.onComplete(() => {
          const keys = [...early]
          early.clear()
          for (const key of keys) enqueue(refOfKey(key))
        }),
    },
  ]
}
