/**
 * The clusters a binding's object goes to, those where it may stay for a while, and those it must be gone from before it
 * goes anywhere else. Pure.
 */
import type { BindingSpec, TargetCluster } from '../../kinds/karmada/index.ts'

/** The clusters the scheduler chose, then those of bindings that depend on the object; each once. */
export function targetsOf(spec: Pick<BindingSpec, 'clusters' | 'requiredBy'>): TargetCluster[] {
  const targets = new Map<string, TargetCluster>()
  const followed = (spec.requiredBy ?? []).flatMap(({ clusters }) => clusters ?? [])
  for (const target of [...(spec.clusters ?? []), ...followed]) if (!targets.has(target.name)) targets.set(target.name, target)
  return [...targets.values()]
}

/** Clusters that may have a Work: the targets, and those being left (unless purged Directly), whose Work stays as it was. */
export function keptClusters(spec: BindingSpec): Set<string> {
  const kept = new Set(targetsOf(spec).map(({ name }) => name))
  for (const { fromCluster, purgeMode } of spec.gracefulEvictionTasks ?? []) if (purgeMode !== 'Directly') kept.add(fromCluster)
  return kept
}

/** Clusters whose Work must be gone before another cluster gets the object. */
export function purgedFirst(spec: BindingSpec): string[] {
  const targets = new Set(targetsOf(spec).map(({ name }) => name))
  const directly = (spec.gracefulEvictionTasks ?? []).filter(({ purgeMode }) => purgeMode === 'Directly')
  return [...new Set(directly.map(({ fromCluster }) => fromCluster))].filter((cluster) => !targets.has(cluster))
}

/** Whether the object has replicas to divide, or pods at all. */
export const isWorkload = ({ replicas = 0, replicaRequirements, components = [] }: BindingSpec): boolean =>
  replicas > 0 || replicaRequirements !== undefined || components.length > 0

/**
 * How many replicas a target gets; undefined where the object is not changed. A workload with components is divided by
 * components, so a target without a number of replicas implies nothing about them.
 */
export function replicasFor(spec: BindingSpec, { replicas = 0 }: TargetCluster): number | undefined {
  if (!isWorkload(spec)) return undefined
  return replicas === 0 && (spec.components ?? []).length > 0 ? undefined : replicas
}
