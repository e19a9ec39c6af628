/** What holds for a fleet at every moment, over the hub and all members together. */

import type { Binding, GracefulEvictionTask, Work } from '../../../../kinds/karmada/index.ts'
import { isConditionTrue } from '../../../../kube/conditions.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { Change, Invariant, InvariantView } from '../../../../runtime/seams/seeded.ts'
import {
  BINDINGS,
  bindingOf,
  clusterOfWork,
  inMember,
  isGoing,
  isOurs,
  KINDS,
  manifestsOf,
  mayOverwrite,
  targetsOf,
  WORKS,
  whereOf,
  workNamedBy,
} from './marks.ts'

const HUB = 'hub'
const PROPAGATED = Object.values(KINDS)

/** With this write it is gone, or terminating. */
const leaves = ({ isDeletion, object, previous }: Change): boolean =>
  previous !== undefined && !isGoing(previous) && (isDeletion || isGoing(object))

/** The write removes an object of ours in a member, and was not made by a user. */
const takesOurs = (change: Change): boolean =>
  change.cluster !== HUB && !change.isPeoples && change.previous !== undefined && isOurs(change.previous) && leaves(change)

const workOf = ({ previous, in: at }: Change): Work | undefined =>
  previous === undefined ? undefined : (at(HUB).get(WORKS, workNamedBy(previous)) as Work | undefined)

const named = ({ cluster, object }: Change): string => `${cluster}: ${object.kind} ${whereOf(object)}`

const preserved: Invariant = {
  says: 'nothing is deleted that is preserved',
  about: PROPAGATED,
  broken(_objects, change) {
    if (!takesOurs(change)) return undefined
    return workOf(change)?.spec.preserveResourcesOnDeletion === true ? `${named(change)} is deleted, its Work says preserve` : undefined
  },
}

const goesWithItsWork: Invariant = {
  says: 'an object of ours goes from a member only when its Work goes',
  about: PROPAGATED,
  broken(_objects, change) {
    if (!takesOurs(change)) return undefined
    const work = workOf(change)
    if (work === undefined) return `${named(change)} is deleted after its Work`
    return isGoing(work) ? undefined : `${named(change)} is deleted, its Work stays`
  },
}

/** Templates of seeds: objects under other names that members have of their own are not judged. */
const TEMPLATE_NAMES = new Set(['shop', 'blog', 'ledger', 'sum', 'settings', 'door', 'pod-reader'])

/** The part that its creator decides. */
const contentOf = ({ spec, data, rules }: KubeObject & { data?: unknown; rules?: unknown }): string => JSON.stringify([spec, data, rules])

const notOurs: Invariant = {
  says: 'no object of a member is touched that is not ours',
  about: PROPAGATED,
  broken(_objects, change) {
    const { cluster, object, previous, isDeletion, isPeoples } = change
    if (cluster === HUB || isPeoples || previous === undefined || isOurs(previous) || isGoing(previous)) return undefined
    if (!TEMPLATE_NAMES.has(object.metadata.name ?? '')) return undefined
    if (isDeletion || isGoing(object)) return `${named(change)} is deleted`
    if (isOurs(object)) {
      const work = change.in(HUB).get(WORKS, workNamedBy(object)) as Work | undefined
      const isAllowed = work !== undefined && manifestsOf(work).some(mayOverwrite)
      return isAllowed || mayOverwrite(object) ? undefined : `${named(change)} is taken over`
    }
    return contentOf(object) === contentOf(previous) ? undefined : `${named(change)} is changed`
  },
}

const clustersOf = ({ spec }: Binding): string => JSON.stringify(spec.clusters ?? [])
const tasksOf = ({ spec }: Binding): number => spec.gracefulEvictionTasks?.length ?? 0
const isDivided = ({ spec }: Binding): boolean => spec.placement?.replicaScheduling?.replicaSchedulingType === 'Divided'

/** What is wrong with the replicas of a decision; undefined when they add up. */
export function wrongSum(binding: Binding): string | undefined {
  const { clusters = [], replicas = 0 } = binding.spec
  if (clusters.length === 0 || binding.spec.replicaRequirements === undefined) return undefined
  const each = clusters.map(({ name, replicas: share = 0 }) => `${name}:${share}`).join(', ')
  const sum = clusters.reduce((total, { replicas: share = 0 }) => total + share, 0)
  const isRight = isDivided(binding) ? sum === replicas : clusters.every(({ replicas: share = 0 }) => share === replicas)
  return isRight ? undefined : `${whereOf(binding)} has ${replicas} replicas, its clusters ${each}`
}

/** Failover removes clusters; any other decision about clusters covers all replicas. */
const addsUp: Invariant = {
  says: 'the replicas of a decision add up',
  about: BINDINGS,
  broken(_objects, { cluster, object, previous, isDeletion, isPeoples }) {
    if (cluster !== HUB || isDeletion || isPeoples) return undefined
    const [now, before] = [object as Binding, previous as Binding | undefined]
    if (before === undefined || clustersOf(now) === clustersOf(before) || tasksOf(now) > tasksOf(before)) return undefined
    return wrongSum(now)
  },
}

/** Pods of seeds are created by ReplicaSets of Deployments, or by the workload of the same name. */
const isPodOf = (pod: KubeObject, { kind, metadata }: KubeObject): boolean =>
  pod.metadata.namespace === metadata.namespace &&
  (pod.metadata.ownerReferences ?? []).some(
    (owner) =>
      (kind === 'Deployment' && owner.kind === 'ReplicaSet' && owner.name.replace(/-[^-]*$/, '') === metadata.name) ||
      (owner.kind === kind && owner.name === metadata.name),
  )

const purgedFirst: Invariant = {
  says: 'under purge mode Directly nothing comes to a cluster while the copy that is left is still there',
  about: [WORKS],
  broken(hub, { cluster, object: work, previous, isDeletion, in: at }) {
    if (cluster !== HUB || isDeletion || previous !== undefined) return undefined
    const binding = bindingOf(hub, work)
    if (binding === undefined) return undefined
    const targets = targetsOf(binding)
    for (const { fromCluster, purgeMode } of binding.spec.gracefulEvictionTasks ?? []) {
      if (purgeMode !== 'Directly' || targets.has(fromCluster) || fromCluster === clusterOfWork(work)) continue
      if (hub.get(WORKS, `karmada-es-${fromCluster}/${work.metadata.name}`) !== undefined)
        return `${whereOf(work)} is made, and ${fromCluster} still has its Work`
      const left = at(fromCluster)
      // What is preserved there is no longer ours: it keeps running, as its owner wants.
      const ended = manifestsOf(work as Work).filter((manifest) => {
        const live = inMember(left, manifest)
        return live === undefined || isOurs(live)
      })
      const pod = left.list('pods').find((one) => ended.some((manifest) => isPodOf(one, manifest)))
      if (pod !== undefined) return `${whereOf(work)} is made, and ${fromCluster} still has pod ${whereOf(pod)}`
    }
    return undefined
  },
}

const isPurging =
  (from: string) =>
  ({ fromCluster, purgeMode }: GracefulEvictionTask): boolean =>
    fromCluster === from && purgeMode === 'Directly'

/** When the task is removed, nothing holds the others back any more. */
const purgedForSure: Invariant = {
  says: 'an eviction of purge mode Directly is over only when the copy that is left is gone',
  about: BINDINGS,
  broken(hub, { cluster, object, previous, isDeletion }) {
    if (cluster !== HUB || isDeletion || isGoing(object) || previous === undefined) return undefined
    const [now, before] = [object as Binding, previous as Binding]
    const targets = targetsOf(now)
    for (const { fromCluster: from } of (before.spec.gracefulEvictionTasks ?? []).filter(({ purgeMode }) => purgeMode === 'Directly')) {
      if (targets.has(from) || (now.spec.gracefulEvictionTasks ?? []).some(isPurging(from))) continue
      const works = hub.list(WORKS).filter((work) => bindingOf(hub, work)?.metadata.uid === now.metadata.uid)
      if (works.some((work) => clusterOfWork(work) === from)) return `${whereOf(now)} has forgotten that it leaves ${from}`
    }
    return undefined
  },
}

const goneBeforeItsWork: Invariant = {
  says: 'a Work is gone only when its member no longer has what it brought',
  about: [WORKS],
  broken(_objects, { cluster, object, isDeletion, in: at }) {
    if (cluster !== HUB || !isDeletion) return undefined
    const member = at(clusterOfWork(object))
    for (const manifest of manifestsOf(object as Work)) {
      const live = inMember(member, manifest)
      if (live !== undefined && !isGoing(live) && isOurs(live) && workNamedBy(live) === whereOf(object))
        return `${whereOf(object)} is gone, and ${clusterOfWork(object)} still has ${live.kind} ${whereOf(live)}`
    }
    return undefined
  },
}

type Counted = KubeObject & { spec: { replicas?: number }; status?: Record<string, number> }

/** Pods of a set that are not terminating, other than this one. */
const othersOf = (member: InvariantView, set: KubeObject, pod: KubeObject): number =>
  member
    .list('pods')
    .filter((one) => one.metadata.uid !== pod.metadata.uid && !isGoing(one))
    .filter(({ metadata }) => (metadata.ownerReferences ?? []).some(({ uid }) => uid === set.metadata.uid)).length

/** The Deployment has observed its last change and carried it out. */
function isSettled({ metadata, spec, status = {} }: Counted): boolean {
  const { replicas = 1 } = spec
  const { observedGeneration, replicas: all = 0, updatedReplicas = 0, readyReplicas = 0 } = status
  return observedGeneration === metadata.generation && [all, updatedReplicas, readyReplicas].every((count) => count === replicas)
}

const podsStay: Invariant = {
  says: 'a running pod stays when nothing about its place has changed',
  about: ['pods'],
  broken(member, change) {
    const { cluster, previous, isPeoples } = change
    if (cluster === HUB || isPeoples || previous === undefined || !leaves(change)) return undefined
    if (!isConditionTrue((previous.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions, 'Ready'))
      return undefined
    const reference = previous.metadata.ownerReferences?.find(({ kind }) => kind === 'ReplicaSet')
    const set = reference && member.get('replicasets.apps', `${previous.metadata.namespace}/${reference.name}`)
    // It may still be carrying out what was asked of it before: scaled in and out again, it sees the one and then the other.
    if (set === undefined || (set.status as { observedGeneration?: number } | undefined)?.observedGeneration !== set.metadata.generation)
      return undefined
    // A surplus pod may go: for instance of a rollout that was reversed before its ReplicaSet had counted its pods.
    if (othersOf(member, set, previous) >= ((set.spec as { replicas?: number } | undefined)?.replicas ?? 1)) return undefined
    const owner = set.metadata.ownerReferences?.[0]
    const deployment = owner && member.get('deployments.apps', `${previous.metadata.namespace}/${owner.name}`)
    if (deployment === undefined || deployment.metadata.uid !== owner?.uid || isGoing(deployment) || !isOurs(deployment)) return undefined
    return isSettled(deployment as Counted) ? `${named(change)} goes, and its Deployment is as it was` : undefined
  },
}

export const FLEET_INVARIANTS: readonly Invariant[] = [
  preserved,
  goesWithItsWork,
  notOurs,
  addsUp,
  purgedFirst,
  purgedForSure,
  goneBeforeItsWork,
  podsStay,
]
