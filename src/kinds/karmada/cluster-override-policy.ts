/** Changes objects of every namespace, and objects without one, on their way to members. */
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { CATEGORIES, GROUPS } from './kube-schemas.ts'
import { overrideSchema as schema } from './override-spec.ts'

export const ClusterOverridePolicy = defineKind({
  group: GROUPS.policy,
  kind: 'ClusterOverridePolicy',
  plural: 'clusteroverridepolicies',
  shortNames: ['cop'],
  categories: CATEGORIES,
  scope: 'Cluster',
  versions: {
    v1alpha1: {
      schema,
      description: 'ClusterOverridePolicy says how objects of any namespace, or of none, differ from cluster to cluster.',
    },
  },
})

export type ClusterOverridePolicy = ObjectOf<typeof ClusterOverridePolicy, 'v1alpha1'>
