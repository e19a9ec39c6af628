/**
 * What data a workload needs. Two forms of one kind, of which a claim has exactly one: `workloadSelector` (the proposal:
 * many workloads, sources selected by attributes, `dataSourceName` names one DataSource object) and `workload` (what
 * volcano-global built: one workload, `dataSourceName` is the logical name, attributes must be equal).
 */
import { conditions, labelSelector } from '../karmada/kube-schemas.ts'
import { type Static, s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { attributes } from './attributes-schema.ts'
import { LONGEST_NAME, LONGEST_WORD } from './limits.ts'
import { DATA_DEPENDENCY_GROUP } from './well-known.ts'

const workloadReference = s.object(
  {
    apiVersion: s.string({ description: 'API version of the workload.' }),
    kind: s.string({ description: 'Kind of the workload.' }),
    name: s.string({ description: 'Name of the workload.' }),
    namespace: s.optional(s.string({ description: 'The namespace of the claim, which is the default.' })),
  },
  { description: 'The workload that needs the data. Then dataSourceName is required, and attributesSelector is not allowed.' },
)

const dataSourceClaimSpec = s.object(
  {
    system: s.string({ description: 'The data system of the source.', maxLength: LONGEST_WORD }),
    dataSourceType: s.string({ description: 'The type of the source.', maxLength: LONGEST_WORD }),
    dataSourceName: s.optional(
      s.string({
        description:
          'With workload: the logical name of the data. With workloadSelector: the DataSource object to use, whatever selectors say.',
        maxLength: LONGEST_NAME,
      }),
    ),
    workload: s.optional(workloadReference),
    workloadSelector: s.optional(
      labelSelector('The workloads of this namespace that need the data, by their labels. Then attributes is not allowed.'),
    ),
    attributes: s.optional(attributes('With workload: the attributes of the source, all of them and no others.')),
    attributesSelector: s.optional(
      labelSelector('With workloadSelector: demands on the attributes of the source. Keys and values are those of labels.'),
    ),
  },
  { description: 'What is needed, and by whom.' },
)

const dataSourceClaimStatus = s.object(
  {
    phase: s.withDefault(s.literals(['Pending', 'Bound'], { description: 'Whether a source is bound.' }), 'Pending'),
    boundTo: s.optional(s.string({ description: 'The DataSource that is bound.' })),
    boundDataSource: s.optional(s.string({ description: 'The same as boundTo, under the name that volcano-global uses.' })),
    conditions: s.optional(
      conditions(
        'Resolved: a source matches. Ready: its data is in a cluster that is ready. Placed: every workload is scheduled where the data is. Bound: a source is bound.',
      ),
    ),
  },
  { description: 'Which source is bound, and what is waited for.' },
)

export const DataSourceClaim = defineKind({
  group: DATA_DEPENDENCY_GROUP,
  kind: 'DataSourceClaim',
  plural: 'datasourceclaims',
  shortNames: ['dsc'],
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: dataSourceClaimSpec, status: s.optional(dataSourceClaimStatus) }),
      description:
        'DataSourceClaim says which data workloads need. They wait until it is known where the data is, and are placed only there.',
      columns: [
        { name: 'PHASE', type: 'string', jsonPath: '.status.phase' },
        { name: 'SOURCE', type: 'string', jsonPath: '.status.boundDataSource' },
        { name: 'WAITS-FOR', type: 'string', jsonPath: '.status.conditions[?(@.status=="False")].reason' },
        { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  },
})

export type DataSourceClaim = ObjectOf<typeof DataSourceClaim, 'v1alpha1'>
export type DataSourceClaimSpec = Static<typeof dataSourceClaimSpec>
export type DataSourceClaimStatus = Static<typeof dataSourceClaimStatus>
export type WorkloadReference = Static<typeof workloadReference>
