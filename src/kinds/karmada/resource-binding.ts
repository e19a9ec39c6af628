/** The binding of one namespaced object. */
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { bindingColumns as columns, bindingSchema as schema } from './binding-schema.ts'
import { CATEGORIES, GROUPS } from './kube-schemas.ts'

export type * from './binding-schema.ts'

export const ResourceBinding = defineKind({
  group: GROUPS.work,
  kind: 'ResourceBinding',
  plural: 'resourcebindings',
  shortNames: ['rb'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: { v1alpha2: { schema, columns, description: 'ResourceBinding binds a namespaced object to clusters.' } },
})

export type ResourceBinding = ObjectOf<typeof ResourceBinding, 'v1alpha2'>
