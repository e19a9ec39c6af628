/** What one cluster is to receive: it lives in the execution namespace of that cluster. */
import { type Static, s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { AGE_COLUMN, CATEGORIES, conditions, GROUPS } from './kube-schemas.ts'

const workSpec = s.object(
  {
    workload: s.optional(
      s.object(
        { manifests: s.optional(s.array(s.embedded({ description: 'One object.' }), { description: 'The objects; in practice one.' })) },
        { description: 'What the cluster is given.' },
      ),
    ),
    suspendDispatching: s.optional(s.boolean({ description: 'Holds it back.' })),
    preserveResourcesOnDeletion: s.optional(s.boolean({ description: 'Whether the objects stay when this goes.' })),
  },
  { description: 'What the cluster is given, and how.' },
)

const manifestStatus = s.object({
  identifier: s.object(
    {
      ordinal: s.int64({ description: 'Its place among the manifests.' }),
      group: s.optional(s.string({ description: 'Its API group.' })),
      version: s.string({ description: 'Its API version.' }),
      kind: s.string({ description: 'Its kind.' }),
      resource: s.string({ description: 'The plural of its kind.' }),
      namespace: s.optional(s.string({ description: 'Its namespace.' })),
      name: s.string({ description: 'Its name.' }),
    },
    { description: 'Which object this is about.' },
  ),
  status: s.optional(s.open({}, { description: 'The status of the object there.' })),
  health: s.optional(s.literals(['Healthy', 'Unhealthy', 'Unknown'], { description: 'Whether it is well there.' })),
})

const workStatus = s.object(
  {
    conditions: s.optional(conditions('Applied and Dispatching.')),
    manifestStatuses: s.optional(s.array(manifestStatus, { description: 'How the objects are.' })),
  },
  { description: 'How far it got.' },
)

export const Work = defineKind({
  group: GROUPS.work,
  kind: 'Work',
  plural: 'works',
  shortNames: ['wk'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: workSpec, status: s.optional(workStatus) }),
      description: 'Work is what one cluster is to be given, and how it is there.',
      columns: [
        { name: 'WORKLOAD-KIND', type: 'string', jsonPath: '.spec.workload.manifests[*].kind' },
        { name: 'APPLIED', type: 'string', jsonPath: '.status.conditions[?(@.type=="Applied")].status' },
        AGE_COLUMN,
      ],
    },
  },
})

export type Work = ObjectOf<typeof Work, 'v1alpha1'>
export type WorkStatus = Static<typeof workStatus>
export type ManifestStatus = Static<typeof manifestStatus>
export type ManifestIdentifier = ManifestStatus['identifier']
