/** How many completions of a divided Job each cluster gets: in proportion to its replicas. Pure. */
import type { BindingSpec, TargetCluster } from '../../kinds/karmada/index.ts'
import { numberAt } from '../../kube/fields.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { divideByWeight } from '../scheduler/division.ts'

/** By cluster; empty where completions are not changed. */
export function completionsByCluster(template: KubeObject, spec: BindingSpec, targets: readonly TargetCluster[]): Map<string, number> {
  const completions = numberAt(template, 'spec', 'completions')
  const isDivided = spec.placement?.replicaScheduling?.replicaSchedulingType === 'Divided'
  if (template.kind !== 'Job' || completions === undefined || !isDivided || !((spec.replicas ?? 0) > 0)) return new Map()
  const weights = targets.map(({ name, replicas = 0 }) => ({ name, weight: replicas }))
  // If no cluster has a share, there is nothing to divide by.
  if (weights.every(({ weight }) => weight === 0)) return new Map()
  return new Map(divideByWeight(completions, weights, template.metadata.uid).map(({ name, replicas }) => [name, replicas]))
}
