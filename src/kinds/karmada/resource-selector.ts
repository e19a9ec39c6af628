/** How policies select objects. */
import { type Static, s } from '../schema/builder.ts'
import { labelSelector } from './kube-schemas.ts'

export const resourceSelector = s.object(
  {
    apiVersion: s.string({ description: 'The apiVersion of the objects.' }),
    kind: s.string({ description: 'The kind of the objects.' }),
    namespace: s.optional(s.string({ description: 'The namespace of the objects; empty: any, or that of the policy.' })),
    name: s.optional(s.string({ description: 'One object by name; labels are not looked at then.' })),
    labelSelector: s.optional(labelSelector('Demands on the labels of the objects.')),
  },
  { description: 'Objects of one kind.' },
)

export type ResourceSelector = Static<typeof resourceSelector>
