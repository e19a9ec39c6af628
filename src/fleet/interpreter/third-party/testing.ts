/** Realistic objects, for the tests and the benchmark of the bundled rules. */
import { deepFreeze } from '../../../base/json.ts'
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'

/** One item per status, from member1, member2 and so on. */
export const statusItems = (...statuses: unknown[]): AggregatedStatusItem[] =>
  deepFreeze(
    statuses.map((status, i) => ({ clusterName: `member${i + 1}`, status, applied: true, health: 'Healthy' }) as AggregatedStatusItem),
  )

const object = (apiVersion: string, kind: string, name: string, namespace: string, spec: unknown): KubeObject =>
  deepFreeze({ apiVersion, kind, metadata: { name, namespace, generation: 1 }, spec })

const podTemplate = (requests: Record<string, string>, pod: Record<string, unknown> = {}): unknown => ({
  spec: { ...pod, containers: [{ name: 'main', image: 'registry.example/main:1', resources: { requests } }] },
})

export const VOLCANO_JOB = object('batch.volcano.sh/v1alpha1', 'Job', 'train', 'ml', {
  minAvailable: 5,
  schedulerName: 'volcano',
  queue: 'default',
  tasks: [
    { name: 'driver', replicas: 1, minAvailable: 1, template: podTemplate({ cpu: '1', memory: '2Gi' }) },
    { replicas: 4, template: podTemplate({ 'nvidia.com/gpu': '1' }, { nodeSelector: { gpu: 'a100' } }) },
  ],
})

const RAY_CLUSTER_SPEC = {
  rayVersion: '2.46.0',
  headGroupSpec: {
    rayStartParams: {},
    template: podTemplate(
      { cpu: '2', memory: '4Gi' },
      { serviceAccountName: 'ray', volumes: [{ name: 'code', configMap: { name: 'code' } }] },
    ),
  },
  workerGroupSpecs: [
    {
      groupName: 'gpu',
      replicas: 3,
      numOfHosts: 2,
      minReplicas: 1,
      maxReplicas: 5,
      rayStartParams: {},
      template: podTemplate({ cpu: '8' }, { volumes: [{ name: 'code', configMap: { name: 'code' } }] }),
    },
    { rayStartParams: {}, template: podTemplate({}) },
  ],
}

export const RAY_CLUSTER = object('ray.io/v1', 'RayCluster', 'pool', 'ml', RAY_CLUSTER_SPEC)

export const RAY_JOB = object('ray.io/v1', 'RayJob', 'tune', 'ml', {
  entrypoint: 'python tune.py',
  shutdownAfterJobFinishes: true,
  rayClusterSpec: RAY_CLUSTER_SPEC,
})

export const PYTORCH_JOB = object('kubeflow.org/v1', 'PyTorchJob', 'mnist', 'ml', {
  pytorchReplicaSpecs: {
    Master: { replicas: 1, restartPolicy: 'OnFailure', template: podTemplate({ cpu: '1' }, { imagePullSecrets: [{ name: 'registry' }] }) },
    Worker: { replicas: 3, restartPolicy: 'OnFailure', template: podTemplate({ cpu: '1' }, { imagePullSecrets: [{ name: 'registry' }] }) },
  },
})

export const DATASET = object('data.fluid.io/v1alpha1', 'Dataset', 'demo', 'default', {
  mounts: [
    {
      mountPoint: 's3://bucket',
      name: 'bucket',
      options: { 'alluxio.underfs.s3.region': 'eu-1' },
      encryptOptions: [{ name: 'aws.secretKey', valueFrom: { secretKeyRef: { name: 'bucket-key', key: 'secret' } } }],
    },
  ],
  sharedEncryptOptions: [{ name: 'token', valueFrom: { secretKeyRef: { name: 'shared-key', key: 'token' } } }],
})

export const ALLUXIO_RUNTIME = object('data.fluid.io/v1alpha1', 'AlluxioRuntime', 'demo', 'default', {
  replicas: 2,
  tieredstore: { levels: [{ mediumtype: 'MEM', path: '/dev/shm', quota: '2Gi', high: '0.95', low: '0.7' }] },
})

export const THIN_RUNTIME = object('data.fluid.io/v1alpha1', 'ThinRuntime', 'demo', 'default', {
  profileName: 'nfs',
  volumes: [{ name: 'settings', configMap: { name: 'nfs-settings' } }],
})

export const CACHE_RUNTIME = object('data.fluid.io/v1alpha1', 'CacheRuntime', 'demo', 'default', {
  runtimeClassName: 'builtin',
  master: { replicas: 1 },
  worker: { replicas: 2, tieredStore: { levels: [{ emptyDir: { quota: '2Gi', medium: 'Memory' } }] } },
})

export const DATA_LOAD = object('data.fluid.io/v1alpha1', 'DataLoad', 'warm', 'default', {
  dataset: { name: 'demo', namespace: 'default' },
  loadMetadata: true,
  target: [{ path: '/', replicas: 1 }],
})

/** Objects of every bundled kind, each with what two member clusters report. */
export function bundledSamples(): { object: KubeObject; statuses: unknown[] }[] {
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z', reason: type })
  const runtime = {
    masterPhase: 'Ready',
    workerPhase: 'Ready',
    fusePhase: 'Ready',
    workerNumberReady: 2,
    conditions: [condition('WorkersReady')],
  }
  const component = (replicas: number) => ({
    phase: 'Ready',
    desiredReplicas: replicas,
    currentReplicas: replicas,
    readyReplicas: replicas,
  })
  const operation = { phase: 'Complete', duration: '42s', conditions: [condition('Complete')], infos: { path: '/data' } }
  const dataset = {
    phase: 'Bound',
    ufsTotal: '2.00GiB',
    cacheStates: { cached: '1.50GiB', cacheCapacity: '4.00GiB', cachedPercentage: '75.0%' },
    conditions: [condition('Ready')],
    runtimes: [{ name: 'demo', namespace: 'default', category: 'Accelerate', type: 'alluxio' }],
    mounts: [{ mountPoint: 's3://bucket', name: 'bucket' }],
  }
  const sample = (template: KubeObject, status: object, kind = template.kind) => ({
    object: { ...template, kind },
    statuses: [status, status],
  })
  return [
    sample(VOLCANO_JOB, {
      state: { phase: 'Running' },
      running: 2,
      minAvailable: 2,
      version: 1,
      runningDuration: '1m40s',
      taskStatusCount: { driver: { phase: { Running: 1 } }, worker: { phase: { Running: 1, Pending: 3 } } },
      conditions: [{ status: 'Pending' }, { status: 'Running' }],
    }),
    sample(RAY_CLUSTER, {
      readyWorkerReplicas: 1,
      desiredWorkerReplicas: 2,
      desiredCPU: '1500m',
      desiredMemory: '3Gi',
      state: 'ready',
      conditions: ['HeadPodReady', 'RayClusterProvisioned'].map(condition),
    }),
    sample(RAY_JOB, { jobStatus: 'RUNNING', jobDeploymentStatus: 'Running', reason: 'r', message: 'm' }),
    sample(PYTORCH_JOB, {
      conditions: ['Created', 'Running'].map(condition),
      replicaStatuses: { Master: { active: 1 }, Worker: { active: 3 } },
      startTime: '2024-01-01T00:00:00Z',
    }),
    sample(DATASET, dataset),
    ...['AlluxioRuntime', 'JuiceFSRuntime', 'JindoRuntime'].map((kind) => sample(ALLUXIO_RUNTIME, runtime, kind)),
    sample(THIN_RUNTIME, runtime),
    sample(CACHE_RUNTIME, {
      master: component(1),
      worker: component(2),
      client: { phase: 'NotReady', desiredReplicas: 0 },
      conditions: [condition('WorkersReady')],
    }),
    ...['DataLoad', 'DataMigrate', 'DataBackup', 'DataProcess'].map((kind) => sample(DATA_LOAD, operation, kind)),
  ].map(deepFreeze)
}
