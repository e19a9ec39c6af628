/** What holds for a settled fleet in which every member is reachable. Pure: from what is stored to what is wrong. */

import type { Binding, Work } from '../../../../kinds/karmada/index.ts'
import { findCondition, isConditionTrue } from '../../../../kube/conditions.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { InvariantView } from '../../../../runtime/seams/seeded.ts'
import { wrongSum } from './invariants.ts'
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

export interface Fleet {
  hub: InvariantView
  members: ReadonlyMap<string, InvariantView>
}

/** Whether something is still waiting: a Work that was refused, or a cluster that is being evicted gradually. */
export function isUnfinished(hub: InvariantView): boolean {
  return (
    hub.list(WORKS).some((work) => isGoing(work) || !isConditionTrue((work as Work).status?.conditions, 'Applied')) ||
    BINDINGS.some((plural) => hub.list(plural).some((binding) => ((binding as Binding).spec.gracefulEvictionTasks ?? []).length > 0))
  )
}

export function wrongAtRest(fleet: Fleet): string[] {
  const { hub, members } = fleet
  const works = hub.list(WORKS) as Work[]
  const bindings = BINDINGS.flatMap((plural) => hub.list(plural) as Binding[])
  return [
    ...bindings.flatMap((binding) => wrongBinding(fleet, binding, works)),
    ...works.flatMap((work) => wrongWork(fleet, work)),
    ...[...members].flatMap(([name, member]) => strayIn(hub, name, member)),
    ...unbound(hub, bindings),
  ]
}

function wrongBinding({ hub, members }: Fleet, binding: Binding, works: readonly Work[]): string[] {
  const name = whereOf(binding)
  if (isGoing(binding)) return [`the binding ${name} is still going`]
  const { resource } = binding.spec
  const template = hub.get(KINDS[resource.kind] ?? '', resource.namespace ? `${resource.namespace}/${resource.name}` : resource.name)
  if (template === undefined) return [`the binding ${name} has no template`]
  const wrong: string[] = []
  const targets = targetsOf(binding)
  const leaving = new Set((binding.spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => fromCluster))
  const own = works.filter((work) => bindingOf(hub, work)?.metadata.uid === binding.metadata.uid)
  for (const work of own) {
    const cluster = clusterOfWork(work)
    if (!targets.has(cluster) && !leaving.has(cluster)) wrong.push(`${whereOf(work)} is outside of the clusters of ${name}`)
  }
  const isPurging = [...leaving].some((cluster) => own.some((work) => clusterOfWork(work) === cluster))
  for (const [cluster, replicas] of targets) {
    const work = own.find((one) => clusterOfWork(one) === cluster)
    if (work === undefined) {
      if (!isPurging) wrong.push(`${name} goes to ${cluster}, which has no Work`)
      continue
    }
    const member = members.get(cluster)
    if (member !== undefined) wrong.push(...wrongShare({ binding, work, replicas, member }))
  }
  // What is held stays as it is: it is not scaled either.
  const isHeld = binding.spec.suspension?.scheduling === true
  const isScheduled = !isHeld && isClaimed(binding) && isConditionTrue(binding.status?.conditions, 'Scheduled')
  const sum = isScheduled && leaving.size === 0 ? wrongSum(binding) : undefined
  return sum === undefined ? wrong : [...wrong, `replicas do not add up: ${sum}`]
}

/** What no policy claims any more stays in place, without further decisions about it. */
const isClaimed = ({ metadata }: Binding): boolean =>
  Object.keys(metadata.labels ?? {}).some((key) => /^(cluster)?propagationpolicy\.karmada\.io\/permanent-id$/.test(key))

/** The object has its share, unless it is held back or must not be changed. */
function wrongShare({
  binding,
  work,
  replicas,
  member,
}: {
  binding: Binding
  work: Work
  replicas?: number
  member: InvariantView
}): string[] {
  if (work.spec.suspendDispatching === true || binding.spec.replicaRequirements === undefined) return []
  const [manifest] = manifestsOf(work)
  const live = manifest === undefined ? undefined : inMember(member, manifest)
  if (live === undefined || !isOurs(live)) return []
  const { replicas: has, parallelism } = live.spec as { replicas?: number; parallelism?: number }
  const found = live.kind === 'Job' ? parallelism : has
  return found === (replicas ?? 0)
    ? []
    : [`${clusterOfWork(work)} has ${found} of ${replicas ?? 0} replicas of ${live.kind} ${whereOf(live)}`]
}

function wrongWork({ hub, members }: Fleet, work: Work): string[] {
  const name = whereOf(work)
  if (isGoing(work)) return [`the Work ${name} is still going`]
  const isOfBinding = Object.keys(work.metadata.annotations ?? {}).some((key) => /^(cluster)?resourcebinding\.karmada\.io\/name$/.test(key))
  if (isOfBinding && bindingOf(hub, work) === undefined) return [`the Work ${name} has lost its binding`]
  if (work.spec.suspendDispatching === true) return []
  const member = members.get(clusterOfWork(work))
  if (member === undefined) return [`the Work ${name} is for nobody`]
  return manifestsOf(work).flatMap((manifest) => wrongManifest(work, manifest, inMember(member, manifest)))
}

function wrongManifest(work: Work, manifest: KubeObject, live: KubeObject | undefined): string[] {
  const what = `${clusterOfWork(work)}: ${manifest.kind} ${whereOf(manifest)}`
  const isApplied = isConditionTrue(work.status?.conditions, 'Applied')
  if (live === undefined) return [`${what} is not there`]
  if (isOurs(live) && workNamedBy(live) === whereOf(work))
    return isApplied ? [] : [`${what} is there, and its Work says ${findCondition(work.status?.conditions, 'Applied')?.message}`]
  if (mayOverwrite(manifest)) return [`${what} was not taken over`]
  return isApplied ? [`${what} is not ours, and its Work says that it is applied`] : []
}

/** Objects in a member without a corresponding Work. */
function strayIn(hub: InvariantView, cluster: string, member: InvariantView): string[] {
  return Object.values(KINDS).flatMap((plural) =>
    member
      .list(plural)
      .filter((object) => isOurs(object) && hub.get(WORKS, workNamedBy(object)) === undefined)
      .map((object) => `${cluster}: nobody stands for ${object.kind} ${whereOf(object)}`),
  )
}

interface Policy extends KubeObject {
  spec: { resourceSelectors: { kind: string; name?: string }[]; activationPreference?: string }
}

/** Templates that a policy selects and that have no binding; a lazy policy decides nothing until the template changes. */
function unbound(hub: InvariantView, bindings: readonly Binding[]): string[] {
  const policies = ['propagationpolicies.policy.karmada.io', 'clusterpropagationpolicies.policy.karmada.io'].flatMap(
    (plural) => hub.list(plural) as Policy[],
  )
  return Object.entries(KINDS).flatMap(([kind, plural]) =>
    hub
      .list(plural)
      .filter(({ metadata: { namespace, name = '' } }) =>
        policies.some(
          ({ metadata, spec }) =>
            spec.activationPreference !== 'Lazy' &&
            (metadata.namespace === undefined || metadata.namespace === namespace) &&
            spec.resourceSelectors.some((selector) => selector.kind === kind && (selector.name ?? name) === name),
        ),
      )
      .filter((template) => !bindings.some(({ spec }) => spec.resource.uid === template.metadata.uid))
      .map((template) => `${kind} ${whereOf(template)} is selected by a policy and has no binding`),
  )
}
