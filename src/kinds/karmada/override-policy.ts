/** Changes objects of its own namespace on their way to members. */
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { CATEGORIES, GROUPS } from './kube-schemas.ts'
import { overrideSchema as schema } from './override-spec.ts'

export type * from './override-spec.ts'

export const OverridePolicy = defineKind({
  group: GROUPS.policy,
  kind: 'OverridePolicy',
  plural: 'overridepolicies',
  shortNames: ['op'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: { v1alpha1: { schema, description: 'OverridePolicy says how objects of its namespace differ from cluster to cluster.' } },
})

export type OverridePolicy = ObjectOf<typeof OverridePolicy, 'v1alpha1'>
