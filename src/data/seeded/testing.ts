/** Objects of datasets as a cluster has them, for tests of the judges. */
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts'

const API_VERSION = 'data.fluid.io/v1alpha1'
const NODE = 'node-1'

interface Given {
  metadata?: Partial<ObjectMeta>
  spec?: object
  status?: object
}

const object = (kind: string, metadata: ObjectMeta, { metadata: more, spec = {}, status }: Given = {}): KubeObject => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { uid: `${kind} ${metadata.name}`, ...metadata, ...more },
  spec,
  ...(status === undefined ? {} : { status }),
})

export const GOING = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const IN_DEFAULT = { namespace: 'default', name: 'demo' }
const LABEL = { 'fluid.io/dataset-id': 'default-demo' }
const MADE = { labels: LABEL, annotations: { CreatedBy: 'fluid' } }

export const writtenBy = (manager: string, fieldsV1: Record<string, unknown>): Partial<ObjectMeta> => ({
  managedFields: [{ manager, operation: 'Update', apiVersion: API_VERSION, fieldsType: 'FieldsV1', fieldsV1 }],
})

export const aDataset = (phase = 'Bound', { metadata, status, ...more }: Given = {}): KubeObject =>
  object(
    'Dataset',
    { ...IN_DEFAULT, labels: LABEL, finalizers: ['fluid-dataset-controller-finalizer'] },
    { metadata, status: { phase, runtimes: phase === 'NotBound' ? [] : [{ type: 'cache' }], conditions: [], ...status }, ...more },
  )

const READY = {
  conditions: [{ type: 'Served', status: 'True' }],
  master: { phase: 'Ready' },
  worker: { phase: 'Ready' },
}

export const aRuntime = ({ status = READY, spec = { runtimeClassName: 'plain' }, ...more }: Given = {}): KubeObject =>
  object('CacheRuntime', IN_DEFAULT, { status, spec, ...more })

export const aClaim = (metadata: Partial<ObjectMeta> = {}, volumeName?: string): KubeObject =>
  object('PersistentVolumeClaim', { ...IN_DEFAULT, ...MADE }, { metadata, spec: { volumeName } })

export const aUsersClaim = (): KubeObject => object('PersistentVolumeClaim', { ...IN_DEFAULT, uid: 'theirs' })

interface GivenVolume {
  attributes?: Record<string, string>
  isCoLocated?: boolean
  /** Of the dataset that it is of (default: `default`). */
  namespace?: string
}

export function aVolume({ attributes = {}, isCoLocated = false, namespace = 'default' }: GivenVolume = {}): KubeObject {
  const csi = { driver: 'fuse.csi.fluid.io', volumeAttributes: { runtime_namespace: 'default', runtime_name: 'demo', ...attributes } }
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'fluid.io/s-default-demo', operator: 'In', values: ['true'] }] }] }
  const nodeAffinity = isCoLocated ? { nodeAffinity: { required } } : {}
  return object(
    'PersistentVolume',
    { name: `${namespace}-demo`, ...MADE },
    { spec: { claimRef: { namespace, name: 'demo' }, csi, ...nodeAffinity } },
  )
}

export const aNamespace = (name: string, metadata: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, uid: `namespace ${name}`, ...metadata },
})

const placeOf = (where: string): { namespace: string; name: string } => {
  const [namespace = '', name = ''] = where.split('/')
  return { namespace, name }
}

/** To `default/demo`. */
export const aReference = (where: string, phase = 'NotBound', { status }: Given = {}): KubeObject =>
  object(
    'Dataset',
    { ...placeOf(where), uid: `reference ${where}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    { spec: { mounts: [{ mountPoint: 'dataset://default/demo' }] }, status: { phase, conditions: [], ...status } },
  )

export const aThinRuntime = (where: string): KubeObject => object('ThinRuntime', { ...placeOf(where), uid: `thin ${where}` })

/** Of the namespace `default`, for datasets of another one. */
export const aGrantFor = (namespace: string, name = 'consent'): KubeObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1beta1',
  kind: 'ReferenceGrant',
  metadata: { namespace: 'default', name, uid: name },
  spec: { from: [{ group: 'data.fluid.io', kind: 'Dataset', namespace }], to: [{ group: 'data.fluid.io', kind: 'Dataset' }] },
})

/** The volume and the claim of a reference to `default/demo`, or to another dataset. */
export const readBy = (namespace: string, original = 'demo'): KubeObject[] => [
  aVolume({ namespace, attributes: { runtime_name: original } }),
  object(
    'PersistentVolumeClaim',
    { namespace, name: 'demo', uid: `claim of ${namespace}`, ...MADE },
    { spec: { volumeName: `${namespace}-demo` } },
  ),
]

export const aReferenceReader = (namespace: string, nodeName: string, name = 'reader'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name, uid: `${namespace} ${name}` },
  spec: { nodeName, volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'demo' } }] },
  status: { phase: 'Running' },
})

interface GivenSet {
  reserveOrdinals?: number[]
  leaving?: string
  metadata?: Partial<ObjectMeta>
}

/** The set of the workers of `default/demo`. */
export const aWorkerSet = (replicas: number, { reserveOrdinals = [], leaving, metadata }: GivenSet = {}): KubeObject => ({
  apiVersion: 'workload.fluid.io/v1alpha1',
  kind: 'AdvancedStatefulSet',
  metadata: {
    namespace: 'default',
    name: 'demo-worker',
    uid: 's',
    ownerReferences: [{ apiVersion: API_VERSION, kind: 'CacheRuntime', name: 'demo', uid: 'CacheRuntime demo', controller: true }],
    ...(leaving === undefined ? {} : { annotations: { 'sluice.dev/leaving-worker': `${leaving} uid 2026-01-01T00:00:00Z` } }),
    ...metadata,
  },
  spec: { replicas, reserveOrdinals },
})

export function workerOn(ordinal: number, nodeName: string): Pod {
  const worker = aWorker(`worker ${ordinal}`, { name: `demo-worker-${ordinal}` })
  return { ...worker, spec: { nodeName } } as Pod
}

/** With which the names of copies for references to `default/demo` end. */
export const HASH = '02c8c86b'

interface GivenCopy {
  /** Of what it is a copy; of none: it is what others are copied from. */
  source?: string
  kind?: 'ConfigMap' | 'DaemonSet'
  text?: string
}

/** Of the client of `default/demo`, or of its configuration; one belongs to the reference `web/demo`. */
export const aCopy = (namespace: string, name: string, { source, kind = 'DaemonSet', text = '{}' }: GivenCopy = {}): KubeObject => ({
  apiVersion: kind === 'ConfigMap' ? 'v1' : 'apps/v1',
  kind,
  metadata: {
    namespace,
    name,
    uid: `${kind} ${namespace}/${name}`,
    ...(source === undefined
      ? { ownerReferences: [{ apiVersion: API_VERSION, kind: 'CacheRuntime', name: 'demo', uid: 'CacheRuntime demo', controller: true }] }
      : {
          labels: { 'sluice.dev/mirror-of': HASH },
          annotations: { 'sluice.dev/mirror-source': source },
          ownerReferences: [{ apiVersion: API_VERSION, kind: 'Dataset', name: 'demo', uid: `reference ${namespace}/demo` }],
        }),
  },
  ...(kind === 'ConfigMap' ? { data: { 'runtime.json': text } } : { spec: { template: { spec: { containers: [{ image: 'cache:1' }] } } } }),
})

export const aWorker = (uid = 'worker', more: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'default',
    name: 'demo-worker-0',
    uid,
    labels: { 'cacheruntime.fluid.io/name': 'demo', 'fluid.io/dataset': 'default-demo' },
    ownerReferences: [
      { apiVersion: 'workload.fluid.io/v1alpha1', kind: 'AdvancedStatefulSet', name: 'demo-worker', uid: 's', controller: true },
    ],
    ...more,
  },
  spec: { nodeName: NODE },
})

export const aNode = (labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: NODE, uid: NODE, labels },
})

export const LABELLED = { 'fluid.io/s-default-demo': 'true', 'fluid.io/s-cache-default-demo': 'true', 'fluid.io/dataset-num': '1' }

export const aReader = (): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'demo-reader', uid: 'reader' },
  spec: { nodeName: NODE, volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'demo' } }] },
  status: { phase: 'Running' },
})

export const aSecret = (namespace: string, key: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name: 'demo-cache-key', uid: `${namespace} key` },
  data: { key },
})

export const answers = (resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'answers', resourceVersion },
  data: { mountFails: '1', reportFails: '1' },
})
