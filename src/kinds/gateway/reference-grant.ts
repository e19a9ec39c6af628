/**
 * Gateway API's ReferenceGrant: the owner of a namespace consents to references from other namespaces. A foreign kind with
 * the upstream's exact schema; where the upstream definition is already installed, it is kept.
 */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'

const group = () =>
  s.string({
    description: 'API group of the objects; empty for the core group.',
    maxLength: 253,
    pattern: '^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  })

const kind = () =>
  s.string({ description: 'Kind of the objects.', maxLength: 63, minLength: 1, pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$' })

const schema = s.object({
  spec: s.object(
    {
      from: s.array(
        s.object(
          {
            group: group(),
            kind: kind(),
            namespace: s.string({
              description: 'Namespace of the objects that refer.',
              maxLength: 63,
              minLength: 1,
              pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
            }),
          },
          { description: 'Objects of one kind in one namespace.' },
        ),
        { description: 'Who may refer; one matching entry is enough.', minItems: 1, maxItems: 16, listType: 'atomic' },
      ),
      to: s.array(
        s.object(
          {
            group: group(),
            kind: kind(),
            name: s.optional(
              s.string({ description: 'One object by name; absent: all of that kind in this namespace.', maxLength: 253, minLength: 1 }),
            ),
          },
          { description: 'Objects of one kind in the namespace of the grant.' },
        ),
        { description: 'What may be referred to; one matching entry is enough.', minItems: 1, maxItems: 16, listType: 'atomic' },
      ),
    },
    { description: 'The consent that is given.' },
  ),
})

const columns = [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }] as const
const description =
  'ReferenceGrant lets objects of other namespaces refer to objects of its own namespace. Removing it withdraws the consent.'

export const ReferenceGrant = defineKind({
  group: 'gateway.networking.k8s.io',
  kind: 'ReferenceGrant',
  plural: 'referencegrants',
  shortNames: ['refgrant'],
  categories: ['gateway-api'],
  scope: 'Namespaced',
  versions: {
    v1: { schema, description, columns },
    v1beta1: { schema, description, columns, storage: true },
  },
  annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/4530' },
})

export type ReferenceGrant = ObjectOf<typeof ReferenceGrant, 'v1beta1'>
