/** Replicas as a single number in the spec, next to the pod template. */

import { fieldAt, numberAt, withField } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { DependentReference, KindRules } from '../interpreter.ts'
import { type DependencyOptions, podDependencies } from './pod-dependencies.ts'
import { podRequirements, type RequirementOptions } from './pod-requirements.ts'

export type NativeOptions = RequirementOptions

export function answerOf(replicas: number, podTemplate: unknown, options: NativeOptions): ReturnType<NonNullable<KindRules['replicas']>> {
  const requirements = podRequirements(podTemplate, options)
  return requirements === undefined ? { replicas } : { replicas, requirements }
}

/** The rule of Deployment, ReplicaSet and StatefulSet; an absent field means none. */
export const specReplicas = (object: KubeObject, options: NativeOptions): ReturnType<NonNullable<KindRules['replicas']>> =>
  answerOf(numberAt(object, 'spec', 'replicas') ?? 0, fieldAt(object, 'spec', 'template'), options)

/** Only a field that exists is rewritten: what its absence means depends on the kind. */
export function reviseField(object: KubeObject, field: string, replicas: number): KubeObject {
  const old = numberAt(object, 'spec', field)
  return old === undefined || old === replicas ? object : withField(object, ['spec', field], replicas)
}

export const templateDependencies = (object: KubeObject, options?: DependencyOptions): DependentReference[] =>
  podDependencies(fieldAt(object, 'spec', 'template'), object.metadata.namespace ?? '', options)
