/**
 * What a tenant writes into a namespace of its own to reach what is in the namespace of somebody else: through each field and each key
 * that can name one. Every attempt has a namespace of its own, called like it.
 */

import { mirrorHash } from '../../src/kinds/fluid/reference.ts'
import { DATASETS } from '../../src/kinds/fluid/resources.ts'
import { DATA_SOURCE_CLAIMS } from '../../src/kinds/volcano/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'

/** The namespace whose owner consents, or does not. */
export const THEIRS = 'theirs'
export const ORIGINAL = 'images'

export interface Attempt {
  name: string
  role: 'hub' | 'member'
  /** Fields and keys of `judgements.ts`. */
  of: readonly string[]
  objects: readonly KubeObject[]
  /** Which object shows what consent lets in, and by which phase; undefined: nothing ever gets in, not even with consent. */
  entry?: { resource: Resource; name: string; phase: string }
  /** It shows whether the other namespace has something of that name, by no fault of ours. */
  mayDiffer?: true
  /** What the server says to all of its objects. */
  refusal?: RegExp
}

type Fields = Record<string, unknown>

const of = (apiVersion: string, kind: string, metadata: KubeObject['metadata'], fields: Fields): KubeObject =>
  ({ apiVersion, kind, metadata, ...fields }) as KubeObject
const fluid = (kind: string, name: string, spec: Fields): KubeObject => of('data.fluid.io/v1alpha1', kind, { name }, { spec })
const dataset = (name: string, spec: Fields): KubeObject => fluid('Dataset', name, spec)

const MOUNTS = [{ mountPoint: 'https://example.com/own', name: 'own' }]
const SECRET = { name: 'aws.secretKey', valueFrom: { secretKeyRef: { name: `${THEIRS}/keys`, key: 'key' } } }
const DATASET = { name: ORIGINAL, namespace: THEIRS }
const RUN_AFTER = {
  kind: 'DataLoad',
  name: 'load',
  namespace: THEIRS,
  affinityStrategy: { policy: 'Require', dependOn: { kind: 'DataLoad', name: 'load', namespace: THEIRS } },
}
const reader = (name: string, claimName: string, metadata: Partial<KubeObject['metadata']> = {}): KubeObject =>
  of(
    'v1',
    'Pod',
    { name, ...metadata },
    {
      spec: {
        restartPolicy: 'Never',
        containers: [
          { name: 'fluid-fuse-0', image: 'any' },
          { name: 'main', image: 'any', volumeMounts: [{ name: 'data', mountPath: '/data' }] },
        ],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
      },
    },
  )

const grant = (from: readonly string[], namespace?: string): KubeObject =>
  of(
    'gateway.networking.k8s.io/v1beta1',
    'ReferenceGrant',
    { name: `consent-${namespace ?? 'own'}`, namespace },
    {
      spec: {
        from: from.map((one) => ({ group: 'data.fluid.io', kind: 'Dataset', namespace: one })),
        to: [{ group: 'data.fluid.io', kind: 'Dataset' }],
      },
    },
  )

/** Of the owner: for the attempts that ask for it. */
export const consentOf = (attempts: readonly Attempt[]): KubeObject[] => [
  grant(
    attempts.map(({ name }) => name),
    THEIRS,
  ),
  of(
    'gateway.networking.k8s.io/v1beta1',
    'ReferenceGrant',
    { name: 'sources', namespace: THEIRS },
    {
      spec: {
        from: attempts.map(({ name }) => ({ group: 'datadependency.volcano.sh', kind: 'DataSourceClaim', namespace: name })),
        to: [{ group: 'datadependency.volcano.sh', kind: 'DataSource' }],
      },
    },
  ),
]

const ELSEWHERE = { namespace: THEIRS, name: 'elsewhere' }
const CLAIM = {
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
  dataSourceRef: { apiGroup: '', kind: 'PersistentVolumeClaim', name: 'photos', namespace: THEIRS },
}
const NEAR = [{ topologyKey: 'kubernetes.io/hostname', labelSelector: {}, namespaces: [THEIRS], namespaceSelector: {} }]

/** Whatever in it can name a namespace names another one. */
const SET = of(
  'workload.fluid.io/v1alpha1',
  'AdvancedStatefulSet',
  { name: 'set' },
  {
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'set' } },
      template: {
        metadata: { namespace: THEIRS, labels: { app: 'set' } },
        spec: {
          affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: NEAR[0] }] } },
          containers: [{ name: 'main', image: 'any' }],
          volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: CLAIM } } }],
        },
      },
      volumeClaimTemplates: [{ metadata: { ...ELSEWHERE }, spec: CLAIM }],
    },
  },
)

const MARKS = {
  labels: { 'sluice.dev/mirror-of': mirrorHash(DATASET) },
  annotations: { 'sluice.dev/mirror-source': `${THEIRS}/${ORIGINAL}` },
}

const MEMBER: readonly Omit<Attempt, 'role'>[] = [
  {
    name: 'mount',
    of: ['Dataset spec.mounts[].mountPoint', 'fluid.io/dataset.referring-name', 'fluid.io/dataset.referring-namespace'],
    objects: [dataset('ref', { mounts: [{ mountPoint: `dataset://${THEIRS}/${ORIGINAL}` }] })],
    entry: { resource: DATASETS, name: 'ref', phase: 'Bound' },
  },
  {
    name: 'mount-part',
    of: ['Dataset spec.mounts[].mountPoint'],
    objects: [dataset('ref', { mounts: [{ mountPoint: `DATASET://${THEIRS}/${ORIGINAL}/a//./b%2e%2e/` }] })],
    entry: { resource: DATASETS, name: 'ref', phase: 'Bound' },
  },
  {
    name: 'mount-out',
    of: ['Dataset spec.mounts[].mountPoint'],
    objects: [
      dataset('parent', { mounts: [{ mountPoint: `dataset://${THEIRS}/${ORIGINAL}/../other` }] }),
      dataset('claim', { mounts: [{ mountPoint: `pvc://${THEIRS}/photos` }] }),
      dataset('two', { mounts: [{ mountPoint: `dataset://${THEIRS}/${ORIGINAL}` }, ...MOUNTS] }),
    ],
  },
  {
    name: 'own-grant',
    of: ['ReferenceGrant spec.from[].namespace'],
    objects: [grant(['own-grant', THEIRS]), dataset('ref', { mounts: [{ mountPoint: `dataset://${THEIRS}/${ORIGINAL}` }] })],
  },
  {
    name: 'runtimes',
    of: ['Dataset spec.runtimes[].namespace'],
    objects: [dataset(ORIGINAL, { mounts: MOUNTS, runtimes: [{ ...DATASET, category: 'Accelerate', type: 'cache' }] })],
  },
  {
    name: 'secrets',
    of: [
      'Dataset spec.mounts[].encryptOptions[].valueFrom.secretKeyRef.name',
      'Dataset spec.sharedEncryptOptions[].valueFrom.secretKeyRef.name',
    ],
    objects: [
      dataset('one', { mounts: [{ ...MOUNTS[0], encryptOptions: [SECRET] }] }),
      dataset('all', { mounts: MOUNTS, sharedEncryptOptions: [SECRET] }),
    ],
    refusal: /cannot be the name of a Secret/,
  },
  {
    name: 'operations',
    of: [
      'DataLoad spec.dataset.namespace',
      'DataMigrate spec.from.dataset.namespace',
      'DataMigrate spec.to.dataset.namespace',
      'DataProcess spec.dataset.namespace',
      ...['DataLoad', 'DataMigrate', 'DataBackup', 'DataProcess'].flatMap((kind) => [
        `${kind} spec.runAfter.namespace`,
        `${kind} spec.runAfter.affinityStrategy.dependOn.namespace`,
      ]),
    ],
    objects: [
      fluid('DataLoad', 'load', { dataset: DATASET, runAfter: RUN_AFTER }),
      fluid('DataMigrate', 'in', { from: { dataset: DATASET }, to: { externalStorage: { uri: 's3://own/a' } }, runAfter: RUN_AFTER }),
      fluid('DataMigrate', 'out', { from: { externalStorage: { uri: 's3://own/a' } }, to: { dataset: DATASET } }),
      fluid('DataBackup', 'backup', { dataset: ORIGINAL, backupPath: 'pvc://own/backups', runAfter: RUN_AFTER }),
      fluid('DataProcess', 'process', {
        dataset: { ...DATASET, mountPath: '/data' },
        processor: { script: { image: 'any', source: 'ls /data' } },
        runAfter: RUN_AFTER,
      }),
    ],
  },
  {
    name: 'set',
    of: [
      'PodTemplateSpec metadata.namespace',
      'PersistentVolumeClaim metadata.namespace',
      'PersistentVolumeClaim spec.dataSourceRef.namespace',
      'PodTemplateSpec spec.affinity.podAffinity…namespaceSelector',
      'PodTemplateSpec spec.affinity.podAffinity…namespaces[]',
      'PodTemplateSpec spec.volumes[].ephemeral.volumeClaimTemplate.metadata.namespace',
      'PodTemplateSpec spec.volumes[].ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace',
    ],
    objects: [
      SET,
      // What a set would make of such a template is refused, as it is in any pod.
      of(
        'v1',
        'Pod',
        { name: 'elsewhere' },
        {
          spec: {
            containers: [{ name: 'main', image: 'any' }],
            volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { metadata: { namespace: THEIRS }, spec: CLAIM } } }],
          },
        },
      ),
    ],
  },
  {
    name: 'forged-claim',
    of: ['fluid.io/managed-by', 'fluid.io/wrapped-by', 'sluice.dev/resolves-namespaces'],
    objects: [
      of(
        'v1',
        'PersistentVolumeClaim',
        {
          name: 'forged',
          labels: { 'fluid.io/managed-by': ORIGINAL, 'fluid.io/wrapped-by': ORIGINAL },
          annotations: { CreatedBy: 'fluid' },
        },
        {
          spec: {
            accessModes: ['ReadOnlyMany'],
            resources: { requests: { storage: '1Gi' } },
            storageClassName: 'fluid',
            volumeName: `${THEIRS}-${ORIGINAL}`,
          },
        },
      ),
      reader('plain', 'forged', { annotations: { 'sluice.dev/resolves-namespaces': THEIRS } }),
    ],
    // Kubernetes itself says in an event that a volume of a name exists, to whoever names it in a claim.
    mayDiffer: true,
  },
  {
    name: 'keys',
    of: ['dataset-name.sidecar.fluid.io/', 'dataset-namespace.sidecar.fluid.io/', 'sluice.dev/mirror-of', 'sluice.dev/mirror-source'],
    objects: [
      of(
        'v1',
        'Pod',
        {
          name: 'sidecar',
          labels: {
            'serverless.fluid.io/inject': 'true',
            'done.sidecar.fluid.io/inject': 'true',
            'fluid.io/managed-by': 'fluid',
            'dataset-name.sidecar.fluid.io/fluid-fuse-0': ORIGINAL,
            'dataset-namespace.sidecar.fluid.io/fluid-fuse-0': THEIRS,
            'cacheruntime.fluid.io/name': ORIGINAL,
          },
          annotations: { 'sluice.dev/simulated-run-for': '3s' },
        },
        {
          spec: {
            restartPolicy: 'Never',
            containers: [
              { name: 'main', image: 'any' },
              { name: 'fluid-fuse-0', image: 'any' },
            ],
          },
        },
      ),
      of('v1', 'ConfigMap', { name: 'copy', ...MARKS }, { data: { 'runtime.json': '{}' } }),
      of(
        'apps/v1',
        'DaemonSet',
        { name: 'copy', ...MARKS },
        {
          spec: {
            selector: { matchLabels: { app: 'copy' } },
            template: {
              metadata: { labels: { app: 'copy' } },
              spec: { containers: [{ name: 'main', image: 'any' }], nodeSelector: { 'fluid.io/fuse-balloon': 'true' } },
            },
          },
        },
      ),
    ],
  },
]

const claim = (name: string, spec: Fields): KubeObject =>
  of(
    'datadependency.volcano.sh/v1alpha1',
    'DataSourceClaim',
    { name },
    { spec: { system: 'hive', dataSourceType: 'table', dataSourceName: 'sales', ...spec } },
  )
const policy = (kind: string, spec: Fields): KubeObject => of('policy.karmada.io/v1alpha1', kind, { name: 'all' }, { spec })
const SELECTED = { apiVersion: 'v1', kind: 'ConfigMap', namespace: THEIRS }
const REPORT = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'report' }

const HUB: readonly Omit<Attempt, 'role'>[] = [
  {
    name: 'claim',
    of: [],
    objects: [claim('sales', { workload: REPORT })],
    entry: { resource: DATA_SOURCE_CLAIMS, name: 'sales', phase: 'Bound' },
  },
  {
    name: 'workload',
    of: ['DataSourceClaim spec.workload.namespace'],
    objects: [claim('sales', { workload: { ...REPORT, namespace: THEIRS } })],
    refusal: /spec\.workload\.namespace/,
  },
  {
    name: 'policy',
    of: ['PropagationPolicy spec.resourceSelectors[].namespace', 'OverridePolicy spec.resourceSelectors[].namespace'],
    objects: [
      policy('PropagationPolicy', { resourceSelectors: [SELECTED], placement: {} }),
      policy('OverridePolicy', {
        resourceSelectors: [SELECTED],
        overrideRules: [{ overriders: { plaintext: [{ path: '/data/key', operator: 'replace', value: 'forged' }] } }],
      }),
    ],
    refusal: /namespace of resource selector must be the same as the namespace of the policy/,
  },
  {
    name: 'claimed',
    of: ['propagationpolicy.karmada.io/name', 'propagationpolicy.karmada.io/namespace', 'sluice.dev/produces'],
    objects: [
      of(
        'v1',
        'ConfigMap',
        {
          name: 'settings',
          annotations: { 'propagationpolicy.karmada.io/namespace': THEIRS, 'propagationpolicy.karmada.io/name': 'all' },
        },
        { data: { key: 'value' } },
      ),
      of(
        'batch/v1',
        'Job',
        { name: 'forger', annotations: { 'sluice.dev/produces': 'hive/table/sales' } },
        { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'any' }] } } } },
      ),
    ],
  },
]

export const ATTEMPTS: readonly Attempt[] = [
  ...MEMBER.map((attempt): Attempt => ({ ...attempt, role: 'member' })),
  ...HUB.map((attempt): Attempt => ({ ...attempt, role: 'hub' })),
]
