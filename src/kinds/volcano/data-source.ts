/**
 * A data asset and the clusters that hold it. The schema is the union of the two forms in use: where the data is can be
 * written as a cluster affinity (the proposal) or as names of clusters (what volcano-global built), and the claims that use
 * it are listed under both names. What a schema cannot say with advice, such as an empty name, is left to admission.
 */

import { clusterAffinity } from '../karmada/cluster-affinity.ts'
import { AGE_COLUMN, conditions } from '../karmada/kube-schemas.ts'
import { type Static, s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { attributes } from './attributes-schema.ts'
import { dataSourceTable } from './data-source-table.ts'
import { LONGEST_NAME, LONGEST_WORD, MOST_CLUSTERS } from './limits.ts'
import { DATA_DEPENDENCY_GROUP } from './well-known.ts'

const dataSourceLocality = s.object(
  {
    clusterAffinity: s.optional(clusterAffinity('The clusters that hold the data, selected as in a placement.')),
    clusterNames: s.optional(
      s.array(s.string(), {
        description: 'The clusters that hold the data, by name. With clusterAffinity as well, those that both select.',
        maxItems: MOST_CLUSTERS,
      }),
    ),
  },
  { description: 'Where the data is: at least one of the two fields.' },
)

const dataSourceSpec = s.object(
  {
    system: s.string({ description: 'The data system: hive, s3, hdfs.', maxLength: LONGEST_WORD }),
    type: s.string({ description: 'The category within the system: table, bucket, prefix.', maxLength: LONGEST_WORD }),
    name: s.string({ description: 'What the system calls the data. It need not be a name of Kubernetes.', maxLength: LONGEST_NAME }),
    locality: dataSourceLocality,
    attributes: s.optional(attributes('Further facts that claims can ask for: any texts. They do not identify the data.')),
    reclaimPolicy: s.withDefault(
      s.literals(['Retain', 'Delete'], {
        description: 'Whether this object is deleted with its last bound claim. The data itself is never touched.',
      }),
      'Retain',
    ),
  },
  { description: 'What the data is, and where.' },
)

const claimReferences = (description: string) =>
  s.optional(
    s.array(
      s.object({
        apiVersion: s.optional(s.string({ description: 'API version of the claim.' })),
        kind: s.optional(s.string({ description: 'Kind of the claim.' })),
        namespace: s.optional(s.string({ description: 'Namespace of the claim.' })),
        name: s.optional(s.string({ description: 'Name of the claim.' })),
        uid: s.optional(s.string({ description: 'UID of the claim.' })),
        resourceVersion: s.optional(s.string({ description: 'Not set.' })),
        fieldPath: s.optional(s.string({ description: 'Not set.' })),
      }),
      { description },
    ),
  )

const dataSourceStatus = s.object(
  {
    claimRef: claimReferences('The bound claims, oldest first, at most 100.'),
    claimRefs: claimReferences('The same as claimRef, under the name that volcano-global uses.'),
    boundClaims: s.optional(s.int32({ description: 'How many claims are bound.' })),
    conditions: s.optional(conditions('Ready: the data is in a cluster that is ready. Provisioned: who wrote this object.')),
  },
  { description: 'Who uses it, and whether it can be used.' },
)

export const DataSource = defineKind({
  group: DATA_DEPENDENCY_GROUP,
  kind: 'DataSource',
  plural: 'datasources',
  scope: 'Cluster',
  table: dataSourceTable,
  versions: {
    v1alpha1: {
      schema: s.object({ spec: dataSourceSpec, status: s.optional(dataSourceStatus) }),
      description: 'DataSource is a data asset and the clusters that hold it. Workloads that claim it are placed only there.',
      columns: [
        { name: 'SYSTEM', type: 'string', jsonPath: '.spec.system' },
        { name: 'TYPE', type: 'string', jsonPath: '.spec.type' },
        { name: 'NAME', type: 'string', jsonPath: '.spec.name' },
        { name: 'CLUSTERS', type: 'string', jsonPath: '.spec.locality..clusterNames' },
        { name: 'CLAIMS', type: 'integer', jsonPath: '.status.boundClaims' },
        AGE_COLUMN,
      ],
    },
  },
})

export type DataSource = ObjectOf<typeof DataSource, 'v1alpha1'>
export type DataSourceSpec = Static<typeof dataSourceSpec>
export type DataSourceLocality = Static<typeof dataSourceLocality>
export type DataSourceStatus = Static<typeof dataSourceStatus>
