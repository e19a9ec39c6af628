/** The datasets that are measured, and the workloads that they are compared with. */
import type { Client } from '../src/client/client.ts'
import { CACHE_RUNTIME_CLASSES, CACHE_RUNTIMES, DATASETS } from '../src/kinds/fluid/resources.ts'
import { NAMESPACES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, SERVICES, STATEFUL_SETS } from '../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../src/kube/meta.ts'
import { createMany } from './gate-objects.ts'

const API_VERSION = 'data.fluid.io/v1alpha1'
const CLASS = 'measured'

const container = (name: string) => ({
  name,
  image: `example.com/${name}:1`,
  resources: { requests: { cpu: '10m', memory: '16Mi' } },
})
const template = (name: string) => ({ spec: { containers: [container(name)] } })

/** No commands: pods of simulated nodes run none. */
const measuredClass = {
  apiVersion: API_VERSION,
  kind: 'CacheRuntimeClass',
  metadata: { name: CLASS },
  fileSystemType: 'measuredfs',
  topology: {
    master: { template: template('master'), service: { headless: {} } },
    worker: { template: template('worker') },
    client: { template: template('client') },
  },
}

export const nameOf = (i: number): string => `set-${i}`

/** One worker; others may be on its node. */
export const datasetOf = (name: string, namespace: string): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: { name, namespace },
  spec: { placement: 'Shared', mounts: [{ mountPoint: `https://example.com/${name}/`, name, path: '/' }] },
})

export const runtimeOf = (name: string, namespace: string): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'CacheRuntime',
  metadata: { name, namespace },
  spec: { runtimeClassName: CLASS, worker: { replicas: 1, tieredStore: { levels: [{ emptyDir: { quota: '1Gi' } }] } } },
})

export async function makeNamespace(member: Client, namespace: string): Promise<void> {
  await member.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
}

export const makeClass = (member: Client): Promise<KubeObject> => member.create(CACHE_RUNTIME_CLASSES, measuredClass as KubeObject)

/** Each with its runtime. */
export async function makeDatasets(member: Client, namespace: string, { first, count }: { first: number; count: number }): Promise<void> {
  await createMany(member, DATASETS, count, (i) => datasetOf(nameOf(first + i), namespace))
  await createMany(member, CACHE_RUNTIMES, count, (i) => runtimeOf(nameOf(first + i), namespace))
}

/** What a dataset has of pods and Services, made by hand: two StatefulSets of one pod each, and a headless Service for one. */
export async function makePlain(member: Client, namespace: string, count: number): Promise<void> {
  const setOf = (name: string): KubeObject => {
    const labels = { app: name }
    return {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name, namespace },
      spec: {
        replicas: 1,
        serviceName: name,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, ...template('main') },
      },
    }
  }
  const serviceOf = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { clusterIP: 'None', selector: { app: name }, ports: [{ port: 80 }] },
  })
  await createMany(member, SERVICES, count, (i) => serviceOf(`${nameOf(i)}-master`))
  await createMany(member, STATEFUL_SETS, count, (i) => setOf(`${nameOf(i)}-master`))
  await createMany(member, STATEFUL_SETS, count, (i) => setOf(`${nameOf(i)}-worker`))
}

/** A directory of this machine, served by the builtin cache as processes. */
export const builtinDatasetOf = (name: string, namespace: string, directory: string): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: { name, namespace },
  spec: { placement: 'Shared', mounts: [{ mountPoint: `local://${directory}`, name, path: '/' }] },
})

/** Full as soon as it can be where it has several workers. */
export const builtinRuntimeOf = (name: string, namespace: string, quota: string, replicas = 1): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'CacheRuntime',
  metadata: { name, namespace },
  spec: {
    runtimeClassName: 'builtin',
    ...(replicas === 1 ? {} : { master: { options: { preload: 'true' } } }),
    worker: { replicas, tieredStore: { levels: [{ emptyDir: { quota } }] } },
  },
})

/** Refers to `original`, `namespace/name`. */
export const referenceTo = (original: string, { namespace, name }: { namespace: string; name: string }): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: { name, namespace },
  spec: { mounts: [{ mountPoint: `dataset://${original}` }] },
})

/** What a reference gives to pods, made by hand: a volume and the claim that is bound to it. */
export async function makeVolumes(member: Client, namespace: string, count: number): Promise<void> {
  const [accessModes, storageClassName, storage] = [['ReadOnlyMany'], 'by-hand', '100Pi']
  await createMany(member, PERSISTENT_VOLUMES, count, (i) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `by-hand-${i}` },
    spec: {
      ...{ accessModes, storageClassName, capacity: { storage } },
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name: `by-hand-${i}` },
      csi: { driver: 'example.com', volumeHandle: `by-hand-${i}` },
    },
  }))
  await createMany(member, PERSISTENT_VOLUME_CLAIMS, count, (i) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name: `by-hand-${i}` },
    spec: { accessModes, storageClassName, resources: { requests: { storage } }, volumeName: `by-hand-${i}` },
  }))
}
