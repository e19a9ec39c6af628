/** The binding of one cluster-scoped object. */
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { bindingColumns as columns, bindingSchema as schema } from './binding-schema.ts'
import { CATEGORIES, GROUPS } from './kube-schemas.ts'

export const ClusterResourceBinding = defineKind({
  group: GROUPS.work,
  kind: 'ClusterResourceBinding',
  plural: 'clusterresourcebindings',
  shortNames: ['crb'],
  categories: CATEGORIES,
  scope: 'Cluster',
  versions: { v1alpha2: { schema, columns, description: 'ClusterResourceBinding binds an object without a namespace to clusters.' } },
})

export type ClusterResourceBinding = ObjectOf<typeof ClusterResourceBinding, 'v1alpha2'>
