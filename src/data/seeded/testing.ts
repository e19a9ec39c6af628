/** Objects of datasets as a cluster has them, for tests of the judges. */
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

export const aClaim = (metadata: Partial<ObjectMeta> = {}): KubeObject =>
  object('PersistentVolumeClaim', { ...IN_DEFAULT, ...MADE }, { metadata })

export const aUsersClaim = (): KubeObject => object('PersistentVolumeClaim', { ...IN_DEFAULT, uid: 'theirs' })

export const aVolume = (): KubeObject => object('PersistentVolume', { name: 'default-demo', ...MADE }, { spec: { claimRef: IN_DEFAULT } })

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
