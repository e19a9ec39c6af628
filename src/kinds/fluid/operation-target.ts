/** Which datasets an operation can work on. Pure. */
import type { Dataset } from './index.ts'
import { referenceOf } from './reference.ts'

/**
 * A dataset that refers to another has no cache and no sources of its own: only a pod can use it. Undefined: the operation can
 * work on the dataset.
 */
export function referenceProblemOf(kind: string, dataset: Dataset): string | undefined {
  const original = referenceOf(dataset)
  if (original === undefined || kind === 'DataProcess') return undefined
  return `Dataset ${dataset.metadata.name ?? ''} refers to another one, and has nothing that a ${kind} could work on: use Dataset ${original.name} in namespace ${original.namespace}`
}
