/** Datasets, their caches, and pods that mount them. */
import type { KubeObject } from '../../../src/kube/meta.ts'

const FLUID = 'data.fluid.io/v1alpha1'

export interface Source {
  mountPoint: string
  name: string
  path?: string
  options?: Record<string, string>
  encryptOptions?: object[]
}

/** With a runtime of its own that the annotation makes, unless a quota is left out. */
export const dataset = (
  name: string,
  mounts: readonly Source[],
  { quota = '64Mi', ...spec }: { quota?: string; [field: string]: unknown } = {},
): KubeObject => ({
  apiVersion: FLUID,
  kind: 'Dataset',
  metadata: {
    name,
    labels: { app: name },
    ...(quota === '' ? {} : { annotations: { 'sluice.dev/runtime': 'builtin', 'sluice.dev/cache-quota': quota } }),
  },
  spec: { placement: 'Shared', mounts, ...spec },
})

/** Each with the namespace. */
export const within = (namespace: string, ...objects: KubeObject[]): KubeObject[] =>
  objects.map((object) => ({ ...object, metadata: { ...object.metadata, namespace } }))

export const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

/** A dataset that refers to another one. */
export const reference = (name: string, to: string): KubeObject => ({
  apiVersion: FLUID,
  kind: 'Dataset',
  metadata: { name },
  spec: { mounts: [{ mountPoint: `dataset://${to}`, name }] },
})

/** Datasets of that namespace may refer to those of this one. */
export const grant = (name: string, from: string): KubeObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1beta1',
  kind: 'ReferenceGrant',
  metadata: { name },
  spec: {
    from: [{ group: 'data.fluid.io', kind: 'Dataset', namespace: from }],
    to: [{ group: 'data.fluid.io', kind: 'Dataset' }],
  },
})

export const runtime = (
  name: string,
  worker: { replicas: number; quota: string; isMemory?: boolean },
  master: object = {},
): KubeObject => ({
  apiVersion: FLUID,
  kind: 'CacheRuntime',
  metadata: { name, labels: { app: name } },
  spec: {
    runtimeClassName: 'builtin',
    master,
    worker: {
      replicas: worker.replicas,
      tieredStore: { levels: [{ emptyDir: { quota: worker.quota, ...(worker.isMemory === true ? { medium: 'Memory' } : {}) } }] },
    },
  },
})

/** Its workers are on nodes of their own, and keep blocks there. */
export const spreadRuntime = (
  name: string,
  worker: { replicas: number; quota: string },
  annotations: Record<string, string> = {},
): KubeObject => ({
  apiVersion: FLUID,
  kind: 'CacheRuntime',
  metadata: { name, annotations },
  spec: {
    runtimeClassName: 'builtin',
    master: { options: { metadataSyncInterval: '1s' } },
    worker: {
      replicas: worker.replicas,
      tieredStore: { levels: [{ hostPath: { paths: [NODE_TIER], quotas: [worker.quota] } }] },
    },
  },
})

/** A directory of each node. */
const NODE_TIER = '/var/lib/sluice/cache'

export interface PodOptions {
  node?: string
  /** Past the scheduler. */
  nodeName?: string
  readOnly?: boolean
}

/** What the pods here have, and no pod of a cache. */
const READER = { role: 'reader' }
export const READERS = 'role=reader'

/** It mounts the claim at /data and runs the script there. */
export const pod = (name: string, claim: string, script: string, { node, nodeName, readOnly }: PodOptions = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: READER },
  spec: {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(node === undefined ? {} : { nodeSelector: { 'kubernetes.io/hostname': node } }),
    containers: [
      {
        name: 'reader',
        image: 'this-machine',
        command: ['sh', '-c', `cd /data && ${script}`],
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim, ...(readOnly === true ? { readOnly } : {}) } }],
  },
})

/** The same pod as a Job, whose pods have the client as a sidecar. */
export function sidecarJob(name: string, claim: string, script: string): KubeObject {
  const { spec } = pod(name, claim, script)
  const metadata = { labels: { 'serverless.fluid.io/inject': 'true' } }
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { backoffLimit: 0, template: { metadata, spec } } }
}

export const secret = (name: string, stringData: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData,
})

export const claim = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
})
