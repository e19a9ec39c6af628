/** A member cluster: how it is reached, where it is located, what resources it has. */
import { type Static, s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { clusterTable } from './cluster-table.ts'
import { CATEGORIES, conditions, GROUPS, resourceList, strings, taint } from './kube-schemas.ts'

const secretReference = (description: string) =>
  s.object(
    {
      namespace: s.string({ description: 'The namespace of the Secret.' }),
      name: s.reference({ to: { group: '', kind: 'Secret' }, namespaceField: 'namespace' }, { description: 'The name of the Secret.' }),
    },
    { description },
  )

const resourceModel = s.object({
  grade: s.int64({ minimum: 0, description: 'The grade of a node.' }),
  ranges: s.array(
    s.object({
      name: s.string({ description: 'The resource.' }),
      min: s.quantity({ description: 'From here on.' }),
      max: s.quantity({ description: 'Up to, but not including.' }),
    }),
    { minItems: 1, description: 'How much a node of this grade has free.' },
  ),
})

const clusterSpec = s.object(
  {
    id: s.optional(s.string({ description: 'The uid of the kube-system namespace of the cluster; no two clusters have the same.' })),
    syncMode: s.literals(['Push', 'Pull'], { description: 'Whether the cluster is written to from here, or fetches what it is given.' }),
    apiEndpoint: s.optional(s.string({ description: 'The address of the API server.' })),
    secretRef: s.optional(secretReference('Holds `token` and `caBundle`.')),
    impersonatorSecretRef: s.optional(secretReference('Holds the `token` of somebody who may act for others.')),
    insecureSkipTLSVerification: s.optional(s.boolean({ description: 'Trusts whoever answers.' })),
    proxyURL: s.optional(s.string({ description: 'The proxy on the way to the cluster: http, https or socks5.' })),
    proxyHeader: s.optional(s.map(s.string(), { description: 'Headers for the proxy.' })),
    provider: s.optional(s.string({ description: 'Whose cluster it is.' })),
    region: s.optional(s.string({ description: 'The region it stands in.' })),
    zone: s.optional(s.string({ description: 'Deprecated: see zones.' })),
    zones: s.optional(strings('The zones it stands in.')),
    taints: s.optional(s.array(taint, { description: 'What keeps work away.' })),
    resourceModels: s.optional(s.array(resourceModel, { description: 'Grades of nodes by what they have free.' })),
  },
  { description: 'How the cluster is reached, and where it stands.' },
)

const resourceSummary = s.object(
  {
    allocatable: s.optional(resourceList('What ready nodes have in all.')),
    allocating: s.optional(resourceList('What pods without a node ask for.')),
    allocated: s.optional(resourceList('What pods on nodes have.')),
    allocatableModelings: s.optional(
      s.array(
        s.object({
          grade: s.int64({ minimum: 0, description: 'The grade.' }),
          count: s.int64({ description: 'How many nodes are of this grade.' }),
        }),
        { description: 'Nodes by grade.' },
      ),
    ),
  },
  { description: 'What the cluster has.' },
)

const apiEnablement = s.object({
  groupVersion: s.string({ description: 'The group and version.' }),
  resources: s.optional(
    s.array(s.object({ name: s.string({ description: 'The plural.' }), kind: s.string({ description: 'The kind.' }) }), {
      description: 'The kinds.',
    }),
  ),
})

const clusterStatus = s.object(
  {
    kubernetesVersion: s.optional(s.string({ description: 'The version of the API server.' })),
    apiEnablements: s.optional(s.array(apiEnablement, { description: 'The kinds the cluster serves.' })),
    conditions: s.optional(conditions('Ready and CompleteAPIEnablements.')),
    nodeSummary: s.optional(
      s.object(
        {
          totalNum: s.optional(s.int32({ description: 'All nodes.' })),
          readyNum: s.optional(s.int32({ description: 'Nodes that are ready.' })),
        },
        { description: 'How many nodes there are.' },
      ),
    ),
    resourceSummary: s.optional(resourceSummary),
    remedyActions: s.optional(strings('What is done about what is wrong.')),
  },
  { description: 'How the cluster is.' },
)

const wide = { type: 'string', priority: 1 } as const

export const Cluster = defineKind({
  group: GROUPS.cluster,
  kind: 'Cluster',
  plural: 'clusters',
  categories: CATEGORIES,
  scope: 'Cluster',
  // Karmada's own server accepts an update without a resourceVersion.
  rules: { allowUnconditionalUpdate: true },
  table: clusterTable,
  versions: {
    v1alpha1: {
      schema: s.object({ spec: clusterSpec, status: s.optional(clusterStatus) }),
      description: 'Cluster is a member of the fleet.',
      columns: [
        { name: 'Version', type: 'string', jsonPath: '.status.kubernetesVersion' },
        { name: 'Mode', type: 'string', jsonPath: '.spec.syncMode' },
        { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        { name: 'Zones', jsonPath: '.spec.zones', ...wide },
        { name: 'Region', jsonPath: '.spec.region', ...wide },
        { name: 'Provider', jsonPath: '.spec.provider', ...wide },
        { name: 'API-Endpoint', jsonPath: '.spec.apiEndpoint', ...wide },
        { name: 'Proxy-URL', jsonPath: '.spec.proxyURL', ...wide },
      ],
    },
  },
})

export type Cluster = ObjectOf<typeof Cluster, 'v1alpha1'>
export type ClusterSpec = Static<typeof clusterSpec>
export type ClusterStatus = Static<typeof clusterStatus>
export type ResourceSummary = Static<typeof resourceSummary>
export type ApiEnablement = Static<typeof apiEnablement>
export type ResourceModel = Static<typeof resourceModel>
