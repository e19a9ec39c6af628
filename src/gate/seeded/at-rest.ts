/** What holds for data and the workloads that need it when everything has settled: pure, from what is stored to what is wrong. */
import { clusterMatcher } from '../../kinds/karmada/cluster-affinity-match.ts'
import type { Binding, Cluster, Placement } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { isConditionTrue } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { InvariantView, RestInvariant } from '../../runtime/seams/seeded.ts'
import {
  allowedNow,
  allowOf,
  BINDINGS,
  boundTo,
  CLAIMS,
  CLUSTERS,
  claimsOn,
  isGoing,
  isHeld,
  matches,
  namesOf,
  SOURCES,
  sourceOf,
  templateOf,
  whereOf,
} from './judge.ts'

const MOST_LISTED = 100
const FINALIZER = 'datadependency.volcano.sh/datasource-finalizer'

const claimsIn = (hub: InvariantView): DataSourceClaim[] => hub.list(CLAIMS) as DataSourceClaim[]
const sourcesIn = (hub: InvariantView): DataSource[] => hub.list(SOURCES) as DataSource[]

/** The first of what is wrong. */
const firstOf = <T>(all: readonly T[], wrong: (one: T) => string | undefined): string | undefined => {
  for (const one of all) {
    const text = wrong(one)
    if (text !== undefined) return text
  }
  return undefined
}

const listsItsClaims: RestInvariant = {
  says: 'a source lists the oldest of its claims, under both names, and counts them all',
  broken: (hub) =>
    firstOf(sourcesIn(hub), (source) => {
      const ageOf = ({ metadata }: KubeObject): string => `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`
      const bound = claimsIn(hub)
        .filter((claim) => boundTo(claim) === source.metadata.name)
        .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
      const listed = bound.slice(0, MOST_LISTED).map(({ metadata: { namespace, name, uid } }) => `${namespace}/${name} ${uid}`)
      const { claimRef = [], claimRefs = [], boundClaims } = source.status ?? {}
      for (const refs of [claimRef, claimRefs]) {
        const found = refs.map(({ namespace, name, uid }) => `${namespace}/${name} ${uid}`)
        if (found.join() !== listed.join())
          return `${source.metadata.name} lists ${found.join() || 'none'} instead of ${listed.join() || 'none'}`
      }
      if (boundClaims !== bound.length) return `${source.metadata.name} counts ${boundClaims} of ${bound.length} claims`
      const isKept = source.metadata.finalizers?.includes(FINALIZER) ?? false
      return isKept === bound.length > 0
        ? undefined
        : `${source.metadata.name} has ${bound.length} claims, and is ${isKept ? '' : 'not '}kept`
    }),
}

const bindsWhatMatches: RestInvariant = {
  says: 'a claim is bound exactly if a source matches it',
  broken: (hub) =>
    firstOf(claimsIn(hub), (claim) => {
      const where = whereOf(claim)
      const { conditions = [], boundTo: one, boundDataSource: other } = claim.status ?? {}
      if (!conditions.some(({ type, observedGeneration }) => type === 'Resolved' && observedGeneration === claim.metadata.generation))
        return `${where} was not looked at since it changed`
      if (one !== other) return `${where} is bound to ${one} and to ${other}`
      const name = boundTo(claim)
      const candidates = sourcesIn(hub).filter((source) => !isGoing(source) && matches(claim, source))
      if (name === undefined)
        return candidates.length === 0 ? undefined : `${where} is not bound, and ${candidates[0]?.metadata.name} matches`
      return candidates.some(({ metadata }) => metadata.name === name) ? undefined : `${where} is bound to ${name}, which does not match`
    }),
}

const isReady = ({ metadata, status }: Cluster): boolean =>
  metadata.deletionTimestamp === undefined && isConditionTrue(status?.conditions, 'Ready')

/** Whether a placement, as it is before a gate narrows it, selects a cluster. */
function selects({ clusterAffinity, clusterAffinities = [] }: Placement, cluster: Cluster): boolean {
  if (clusterAffinities.length === 0) return clusterMatcher(clusterAffinity)(cluster)
  return clusterAffinities.some((affinity) => clusterMatcher(affinity)(cluster))
}

/** What no policy claims any more stays in place, without further decisions about it. */
const isClaimed = ({ metadata }: Binding): boolean =>
  Object.keys(metadata.labels ?? {}).some((key) => /^(cluster)?propagationpolicy\.karmada\.io\/permanent-id$/.test(key))

const heldRightly: RestInvariant = {
  says: 'a workload that runs nowhere is held exactly if its data is not known, or nowhere where it may go',
  broken: (hub) =>
    firstOf(hub.list(BINDINGS) as Binding[], (binding) => {
      const template = templateOf(hub, binding)
      if (template === undefined || isGoing(template) || isGoing(binding) || !isClaimed(binding)) return undefined
      const allowed = allowedNow(hub, template)
      const name = whereOf(binding)
      if (allowed === undefined) {
        if (isHeld(binding)) return `${name} is held, and nothing is claimed for it`
        return allowOf(binding) === undefined ? undefined : `${name} is narrowed, and nothing is claimed for it`
      }
      if (namesOf(binding).length > 0) return undefined
      const { placement = {} } = binding.spec
      const usable = (hub.list(CLUSTERS) as Cluster[]).filter(
        (cluster) => allowed.includes(cluster.metadata.name ?? '') && isReady(cluster),
      )
      if (!isHeld(binding)) return allowed.length > 0 ? undefined : `${name} is not held, and ${unmetOn(hub, template)}`
      const free = usable.find((cluster) => selects(placement, cluster))
      return free === undefined ? undefined : `${name} is held, and its data is in ${free.metadata.name}`
    }),
}

function unmetOn(hub: InvariantView, template: KubeObject): string {
  const { claims, missing } = claimsOn(hub, template)
  const unmet = claims.filter((claim) => sourceOf(hub, claim) === undefined).map(whereOf)
  return `of its claims ${[...missing, ...unmet].join()} are not met`
}

const isScheduled = ({ metadata, status }: Binding): boolean =>
  status?.schedulerObservedGeneration === metadata.generation && isConditionTrue(status?.conditions, 'Scheduled')

const inReleased: RestInvariant = {
  says: 'a workload that was released and could be scheduled is where it was released to',
  broken: (hub) =>
    firstOf(hub.list(BINDINGS) as Binding[], (binding) => {
      const allow = allowOf(binding)
      if (allow === undefined || isHeld(binding) || isGoing(binding) || !isClaimed(binding) || !isScheduled(binding)) return undefined
      const outside = namesOf(binding).filter((name) => !allow.includes(name))
      return outside.length === 0 ? undefined : `${whereOf(binding)} is in ${outside.join()}, and was released to ${allow.join()}`
    }),
}

const isMarked: RestInvariant = {
  says: 'a binding says that its placement is narrowed exactly while it is, and is released',
  broken: (hub) =>
    firstOf(hub.list(BINDINGS) as Binding[], (binding) => {
      const isInjected = binding.metadata.annotations?.['datadependency.volcano.sh/placement-injected'] === 'true'
      return isInjected === (allowOf(binding) !== undefined && !isHeld(binding)) ? undefined : `${whereOf(binding)}: ${isInjected}`
    }),
}

/** Of a Job that has ended well in a cluster where it should be. */
function hasSucceeded({ spec, status }: Binding): boolean {
  const { replicaScheduling } = spec.placement ?? {}
  const isEnded = (name: string): boolean =>
    (status?.aggregatedStatus ?? []).some((item) => {
      const { conditions } = (item.status ?? {}) as { conditions?: { type: string; status: string }[] }
      return item.clusterName === name && item.applied === true && isConditionTrue(conditions, 'Complete')
    })
  const names = (spec.clusters ?? []).map(({ name }) => name)
  return names.length > 0 && (replicaScheduling?.replicaSchedulingType === 'Divided' ? names.every(isEnded) : names.some(isEnded))
}

const isPublished: RestInvariant = {
  says: 'what a workload has made has a source',
  broken: (hub) =>
    firstOf(hub.list(BINDINGS) as Binding[], (binding) => {
      const template = templateOf(hub, binding)
      const produces = template?.metadata.annotations?.['sluice.dev/produces']
      if (template === undefined || isGoing(template) || produces === undefined || !hasSucceeded(binding)) return undefined
      const found = sourcesIn(hub).some(({ spec }) => `${spec.system}/${spec.type}/${spec.name}` === produces)
      return found ? undefined : `${whereOf(template)} has made ${produces}, and there is no source`
    }),
}

export const AT_REST: readonly RestInvariant[] = [listsItsClaims, bindsWhatMatches, heldRightly, inReleased, isMarked, isPublished]
