/** Propagates objects of every namespace, and objects without one. */
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { CATEGORIES, GROUPS } from './kube-schemas.ts'
import { propagationColumns as columns, propagationSchema as schema } from './propagation-spec.ts'

export const ClusterPropagationPolicy = defineKind({
  group: GROUPS.policy,
  kind: 'ClusterPropagationPolicy',
  plural: 'clusterpropagationpolicies',
  shortNames: ['cpp'],
  categories: CATEGORIES,
  scope: 'Cluster',
  versions: {
    v1alpha1: {
      schema,
      columns,
      description: 'ClusterPropagationPolicy says which objects of any namespace, or of none, go to which clusters.',
    },
  },
})

export type ClusterPropagationPolicy = ObjectOf<typeof ClusterPropagationPolicy, 'v1alpha1'>
