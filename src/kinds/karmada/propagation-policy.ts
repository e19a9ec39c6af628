/** Propagates objects of its own namespace. */
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { CATEGORIES, GROUPS } from './kube-schemas.ts'
import { propagationColumns as columns, propagationSchema as schema } from './propagation-spec.ts'

export const PropagationPolicy = defineKind({
  group: GROUPS.policy,
  kind: 'PropagationPolicy',
  plural: 'propagationpolicies',
  shortNames: ['pp'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: { v1alpha1: { schema, columns, description: 'PropagationPolicy says which objects of its namespace go to which clusters.' } },
})

export type PropagationPolicy = ObjectOf<typeof PropagationPolicy, 'v1alpha1'>
