/** Datasets, runtimes, classes and sets as people write them: what the generator changes. */
import type { Json } from '../../../src/base/json.ts'

type Sample = Record<string, Json>

const dataset = (spec: Sample): Sample => ({ kind: 'Dataset', spec })
const secret = { name: 'aws.accessKeyId', valueFrom: { secretKeyRef: { name: 'keys', key: 'id' } } }

const DATASETS: readonly Sample[] = [
  dataset({ mounts: [{ mountPoint: 'local:///srv/data', name: 'data', path: '/' }] }),
  dataset({
    mounts: [
      {
        mountPoint: 's3://lake/images',
        name: 'images',
        options: { 'aws.region': 'eu', 'aws.secretKey': 'open-sesame' },
        encryptOptions: [secret],
      },
    ],
  }),
  dataset({
    mounts: [
      { mountPoint: 'https://example.com/models/', name: 'models', path: '/models', readOnly: true },
      { mountPoint: 'pvc://scratch/tmp', name: 'scratch' },
    ],
    accessModes: ['ReadWriteMany'],
    placement: 'Shared',
    sharedOptions: { region: 'eu' },
    sharedEncryptOptions: [secret],
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }] } },
    tolerations: [{ key: 'gpu', operator: 'Exists' }],
  }),
  dataset({ mounts: [{ mountPoint: 'dataset://fuzz-1/a/sub' }] }),
  dataset({ mounts: [{ mountPoint: 'pvc://a', name: 'itself' }] }),
  dataset({ mounts: [{ mountPoint: 'juicefs:///x', name: 'x' }], dataRestoreLocation: { path: 'local:///backup', nodeName: 'n1' } }),
]

const levels = [
  { processMemory: { quota: '64Mi' } },
  { hostPath: { paths: ['/cache/a', '/cache/b'], quotas: ['1Gi', '2Gi'] }, high: '0.9', low: '0.5' },
]
/** Pods that a command can be run in. */
const podMetadata = { annotations: { 'sluice.dev/run': 'process' }, labels: { team: 'a' } }

const RUNTIMES: readonly Sample[] = [
  { kind: 'CacheRuntime', spec: { runtimeClassName: 'builtin', podMetadata } },
  {
    kind: 'CacheRuntime',
    spec: {
      ...{ runtimeClassName: 'builtin', podMetadata, options: { blockSize: '4Mi' } },
      master: { replicas: 1 },
      worker: {
        ...{
          replicas: 2,
          tieredStore: { levels },
          resources: { limits: { memory: '1Gi' } },
          options: { replicas: '1', 'aws.secretKey': 'open-sesame' },
        },
        ...{ env: [{ name: 'A', value: 'b' }], volumeMounts: [{ name: 'v', mountPath: '/v' }], nodeSelector: { disk: 'ssd' } },
      },
      client: { cleanPolicy: 'OnDemand', tieredStore: { levels: [{ emptyDir: { quota: '1Gi', medium: 'Memory' } }] } },
      volumes: [{ name: 'v', emptyDir: {} }],
      imagePullSecrets: [{ name: 'pull' }],
    },
  },
  { kind: 'CacheRuntime', spec: { runtimeClassName: 'a', worker: { replicas: 1 } } },
  {
    kind: 'CacheRuntime',
    spec: {
      ...{ runtimeClassName: 'builtin', podMetadata, options: { key: 'open-sesame' } },
      client: { env: [{ name: 'KEY', value: 'open-sesame' }], podMetadata: { annotations: { 'sluice.dev/sidecar-files': 'false' } } },
    },
  },
  {
    kind: 'AlluxioRuntime',
    spec: {
      ...{ replicas: 2, properties: { 'alluxio.underfs.s3.endpoint': 'http://minio:9000' }, podMetadata },
      tieredstore: {
        levels: [
          { mediumtype: 'MEM', path: '/dev/shm', quota: '2Gi', high: '0.95', low: '0.7' },
          { mediumtype: 'SSD', path: '/a,/b', quotaList: '1Gi,2Gi' },
        ],
      },
    },
  },
  {
    kind: 'JuiceFSRuntime',
    spec: { replicas: 1, tieredstore: { levels: [{ mediumtype: 'HDD', volumeType: 'emptyDir', path: '/x', quota: '1Gi' }] } },
  },
  { kind: 'JindoRuntime', spec: { replicas: 1, master: { replicas: 1 }, fuse: { cleanPolicy: 'OnDemand' } } },
  { kind: 'ThinRuntime', spec: { profileName: 'a', replicas: 1, volumes: [{ name: 'v', hostPath: { path: '/srv' } }] } },
  { kind: 'EFCRuntime', spec: { replicas: 1 } },
  { kind: 'VineyardRuntime', spec: { replicas: 1 } },
]

const template = (name: string): Json => ({ spec: { containers: [{ name, image: `${name}:1`, command: ['serve'] }] } })
const entry = { command: ['serve', 'report'], timeout: 5 }

const OTHERS: readonly Sample[] = [
  {
    kind: 'CacheRuntimeClass',
    metadata: { annotations: { 'sluice.dev/key': 'true', 'sluice.dev/native-mounts': 'true', 'sluice.dev/fixed-options': 'a' } },
    fileSystemType: 'fs',
    topology: {
      master: {
        template: template('master'),
        service: { headless: {} },
        executionEntries: { mountUFS: entry, reportSummary: entry },
        options: { a: 'b' },
      },
      worker: { template: template('worker'), dependencies: { extraResources: { configMaps: [{ name: 'c', mountPath: '/c' }] } } },
      client: { template: template('client'), dependencies: { secretMount: { enabled: true } } },
    },
    extraResources: { configMaps: [{ name: 'c', data: { k: 'v' } }] },
  },
  { kind: 'ThinRuntimeProfile', spec: { fileSystemType: 'fs', fuse: { image: 'i', imageTag: 't' } } },
  {
    kind: 'AdvancedStatefulSet',
    spec: {
      ...{
        replicas: 2,
        selector: { matchLabels: { app: 'set' } },
        serviceName: 's',
        podManagementPolicy: 'Parallel',
        reserveOrdinals: [1],
      },
      template: { metadata: { labels: { app: 'set' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0, podUpdatePolicy: 'InPlaceIfPossible' } },
    },
  },
  { kind: 'DataLoad', spec: { dataset: { name: 'a', namespace: 'fuzz-0' }, target: [{ path: '/', replicas: 1 }] } },
  { kind: 'DataBackup', spec: { dataset: 'a', backupPath: 'local:///backup' } },
  { kind: 'DataMigrate', spec: { from: { dataset: { name: 'a', namespace: 'fuzz-0' } }, to: { externalStorage: { uri: 's3://b' } } } },
  {
    kind: 'DataProcess',
    spec: { dataset: { name: 'a', mountPath: '/data' }, processor: { script: { source: 'ls', image: 'i', command: ['sh'] } } },
  },
]

/** Pairs that bind are the most frequent. */
export const SAMPLES: readonly Sample[] = [...DATASETS, ...DATASETS, ...RUNTIMES, ...OTHERS]

/** Metadata that controllers act on. */
export const METADATA: readonly Sample[] = [
  { annotations: { 'sluice.dev/runtime': 'builtin', 'sluice.dev/cache-quota': '1Gi' } },
  { annotations: { 'sluice.dev/runtime': '../x', 'sluice.dev/cache-quota': '-1' } },
  { annotations: { 'sluice.dev/runtime': 'builtin', 'sluice.dev/cache-quota': '1e99' } },
  { annotations: { 'pvc.fluid.io/resources.requests.storage': 'lots' } },
  { annotations: { 'pvc.fluid.io/resources.requests.storage': '-5Gi', 'sluice.dev/runtime': 'builtin' } },
  {
    annotations: {
      'data.fluid.io/metadataList': '[{"selector":{"kind":"PersistentVolume"},"labels":{"a b":"c"},"annotations":{"x":"y"}}]',
    },
  },
  { annotations: { 'data.fluid.io/metadataList': '[{"selector":{"kind":"PersistentVolumeClaim"},"labels":{"__proto__":"c"}},null,5]' } },
  { annotations: { 'data.fluid.io/metadataList': '{"__proto__":[]}', 'fluid.io/skip-check-mount-ready-target': 'true' } },
  { labels: { 'fluid.io/dataset-id': 'other', 'fluid.io/s-fuzz-0-a': 'true' } },
  { labels: { 'workload.fluid.io/specified-delete': 'true' } },
  { finalizers: ['example.com/held'] },
  { annotations: { 'sluice.dev/fuse-global': 'false', 'sluice.dev/handover-seconds': '-1' } },
  { annotations: { 'sluice.dev/fuse-global': 'perhaps', 'sluice.dev/leaving-worker': 'a-worker-0', 'sluice.dev/handover-seconds': '1e9' } },
  { ownerReferences: [{ apiVersion: 'data.fluid.io/v1alpha1', kind: 'Dataset', name: 'a', uid: 'nobody', controller: true }] },
]
