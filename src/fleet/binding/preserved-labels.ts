/**
 * State that survives a move: what was read from the status in the old cluster, as labels for the copy in the new one. Only
 * where it is certain which copy takes over: one target, not the previous one, and nothing left running elsewhere. Pure.
 */
import type { BindingSpec } from '../../kinds/karmada/index.ts'
import { targetsOf } from './targets.ts'

export function preservedLabels(spec: BindingSpec, cluster: string): Readonly<Record<string, string>> {
  const task = spec.gracefulEvictionTasks?.at(-1)
  if (task?.purgeMode !== 'Directly' || targetsOf(spec).length !== 1) return {}
  return task.clustersBeforeFailover?.includes(cluster) === true ? {} : (task.preservedLabelState ?? {})
}
