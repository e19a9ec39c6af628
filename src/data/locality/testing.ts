/** Pods, claims and datasets for the tests of this folder, and a reader of objects. */
import { deepFreeze } from '../../base/json.ts'
import type { AdmissionReader } from '../../kinds/admission.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { NodeSelectorTerm, PersistentVolume, PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { PodDataset } from './pod-datasets.ts'

const FLUID = 'data.fluid.io/v1alpha1'

/** Keys that exist only in tests, of which no plugin knows anything. */
export const disk = (...values: string[]): NodeSelectorTerm => ({ matchExpressions: [{ key: 'disk', operator: 'In', values }] })
export const zone = (...values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values }],
})
export const cached = (name: string): NodeSelectorTerm => ({
  matchExpressions: [{ key: `fluid.io/s-default-${name}`, operator: 'In', values: ['true'] }],
})

export const aPodDataset = (name: string, more: Partial<PodDataset> = {}): PodDataset =>
  deepFreeze({
    claim: name,
    name,
    namespace: 'default',
    cacheLabel: `fluid.io/s-default-${name}`,
    fuseLabel: `fluid.io/f-default-${name}`,
    fuseNodeSelector: {},
    cacheTerms: [],
    attributes: {},
    accessModes: ['ReadOnlyMany'],
    holder: { namespace: 'default', name },
    runtime: aRuntime(`default/${name}`),
    ...more,
  })

/** A pod that asks for injection, with a container that mounts each claim; what is given replaces fields of its spec. */
export function aPod(claims: readonly string[], spec: Pod['spec'] = {}, metadata: Pod['metadata'] = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', ...metadata, labels: { 'fuse.serverful.fluid.io/inject': 'true', ...metadata.labels } },
    spec: {
      containers: [{ name: 'c', image: 'i', volumeMounts: claims.map((claim) => ({ name: `v-${claim}`, mountPath: `/${claim}` })) }],
      volumes: claims.map((claim) => ({ name: `v-${claim}`, persistentVolumeClaim: { claimName: claim } })),
      ...spec,
    },
  }
}

export const aClaim = (
  name: string,
  labels: Record<string, string> = { [`fluid.io/s-default-${name}`]: 'true' },
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'default', name, labels },
  spec: {
    accessModes: ['ReadOnlyMany'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: 'fluid',
    volumeName: `default-${name}`,
  },
})

export const aVolume = (name: string, volumeAttributes: Record<string, string> = {}): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `default-${name}` },
  spec: {
    accessModes: ['ReadOnlyMany'],
    capacity: { storage: '1Gi' },
    storageClassName: 'fluid',
    claimRef: { namespace: 'default', name },
    csi: {
      driver: 'fuse.csi.fluid.io',
      volumeHandle: `default-${name}`,
      volumeAttributes: { runtime_namespace: 'default', runtime_name: name, ...volumeAttributes },
    },
  },
})

export const aDataset = (where: string, status: Partial<NonNullable<Dataset['status']>> = {}): Dataset => {
  const [namespace = '', name = ''] = where.split('/')
  return {
    apiVersion: FLUID,
    kind: 'Dataset',
    metadata: { namespace, name, uid: `uid-of-${name}` },
    spec: { mounts: [{ mountPoint: 's3://bucket', name: 'bucket' }] },
    status: { phase: 'Bound', conditions: [], runtimes: [{ name, namespace, category: 'Accelerate', type: 'cache' }], ...status },
  }
}

export const aRuntime = (where: string, more: { kind?: string; spec?: object; status?: object } = {}): KubeObject => {
  const [namespace = '', name = ''] = where.split('/')
  return { apiVersion: FLUID, kind: 'CacheRuntime', metadata: { namespace, name }, spec: { runtimeClassName: 'builtin' }, ...more }
}

/** All objects of a dataset that is bound. */
export const aBoundDataset = (name: string, runtime: { spec?: object; status?: object } = {}): KubeObject[] => [
  aClaim(name),
  aVolume(name),
  aDataset(`default/${name}`),
  aRuntime(`default/${name}`, runtime),
]

/** Finds objects by the plural that their kind has in English; what it gives is frozen, as a server's is. */
export function readerOf(objects: readonly KubeObject[]): AdmissionReader {
  const stored = new Map<string, KubeObject>()
  for (const object of objects) {
    const { kind, metadata, apiVersion } = object
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
    stored.set([group, `${kind.toLowerCase()}s`, metadata.namespace ?? '', metadata.name].join(), deepFreeze(structuredClone(object)))
  }
  return {
    get: ({ group, resource }, namespace, name) => stored.get([group, resource, namespace, name].join()),
    list: () => [...stored.values()],
  }
}
