/** metadata.generation of kinds that count changes of their desired state. Values depend on the old object alone. */
import type { KubeObject } from '../../../kube/meta.ts'
import { semanticEqual } from './pod/semantic.ts'

export function startGeneration(object: KubeObject): void {
  object.metadata.generation = 1
}

/** Incremented when any of the fields changed, the same otherwise. */
export function countChange(object: KubeObject, old: KubeObject, fields: readonly string[] = ['spec']): void {
  const before = old.metadata.generation ?? 0
  const changed = fields.some((key) => !semanticEqual(object[key], old[key], key))
  object.metadata.generation = changed ? before + 1 : before
}
