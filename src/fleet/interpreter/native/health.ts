/** Health of workloads with counters: the controller there has observed the newest spec, and enough pods are up to date and available. */

import { numberAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'

export const hasObservedSpec = (object: KubeObject): boolean =>
  (numberAt(object, 'status', 'observedGeneration') ?? 0) === (object.metadata.generation ?? 0)

export const statusNumber = (object: KubeObject, counter: string): number => numberAt(object, 'status', counter) ?? 0

/** Deployments and StatefulSets. Without `spec.replicas` any number is enough. */
export function isRolledOut(object: KubeObject): boolean {
  const updated = statusNumber(object, 'updatedReplicas')
  const wanted = numberAt(object, 'spec', 'replicas') ?? 0
  return hasObservedSpec(object) && updated >= wanted && statusNumber(object, 'availableReplicas') >= updated
}
