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

export interface PodOptions {
  node?: string
  readOnly?: boolean
}

/** It mounts the claim at /data and runs the script there. */
export const pod = (name: string, claim: string, script: string, { node, readOnly }: PodOptions = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
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
