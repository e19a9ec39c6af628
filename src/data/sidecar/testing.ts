/** The clients that sidecars are made of, and what admission makes of a pod. */
import type { AdmissionContext } from '../../kinds/admission.ts'
import type { Container, DaemonSet, Pod, PodSpec } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { aBoundDataset, aClaim, aDataset, aRuntime, aPod as asksForLocality, aVolume, readerOf } from '../locality/testing.ts'
import { type DatasetSidecarOptions, datasetSidecar } from './admission.ts'

/** Of no node: no client runs beside those in pods. */
const NOWHERE = { 'fluid.io/f-nowhere': 'true' }
const FILES = { 'sluice.dev/sidecar-files': 'true' }

const aDaemonSet = (name: string, spec: PodSpec, annotations: Record<string, string> = {}): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { namespace: 'default', name },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' }, annotations }, spec: { nodeSelector: NOWHERE, ...spec } },
  },
})

/** As the class builtin makes it, for a dataset of this name. */
export function filesClient(
  name: string,
  { namespace = 'default', set = `${name}-client`, container = {} as Partial<Container> } = {},
): DaemonSet {
  const audience = `sluice.dev/cache/${namespace}/${name}`
  const root = `/runtime-mnt/cache/${namespace}/${name}/cache-fuse`
  return aDaemonSet(
    set,
    {
      containers: [
        {
          name: 'client',
          image: 'sluice.dev/sluice:1',
          command: ['sluice', 'cache', 'client'],
          env: [{ name: 'FLUID_RUNTIME_MOUNT_PATH', value: root }],
          readinessProbe: { httpGet: { path: '/healthz', port: 19452 } },
          volumeMounts: [
            { name: 'token', mountPath: '/var/run/secrets/sluice.dev/cache', readOnly: true },
            { name: 'config', mountPath: '/etc/fluid/config', readOnly: true },
            { name: 'worker-tier', mountPath: '/tier', readOnly: true },
            { name: 'shared', mountPath: root },
          ],
          ...container,
        },
      ],
      volumes: [
        { name: 'token', projected: { sources: [{ serviceAccountToken: { audience, path: 'token' } }] } },
        { name: 'config', configMap: { name: 'fluid-runtime-config' } },
        { name: 'worker-tier', hostPath: { path: '/data' } },
        { name: 'shared', hostPath: { path: root, type: 'DirectoryOrCreate' } },
        { name: 'unused', emptyDir: {} },
      ],
    },
    FILES,
  )
}

/** A client with FUSE, as Fluid's charts make it. */
export const fuseClient = (name: string, more: { container?: Partial<Container>; spec?: Partial<PodSpec> } = {}): DaemonSet =>
  aDaemonSet(`${name}-client`, {
    containers: [
      {
        name: 'fuse',
        image: 'fuse:1',
        securityContext: { privileged: true, capabilities: { add: ['SYS_ADMIN', 'NET_ADMIN'] } },
        ports: [
          { name: 'rpc', containerPort: 1 },
          { name: 'web-metrics', containerPort: 2 },
        ],
        lifecycle: { preStop: { exec: { command: ['umount', `/runtime-mnt/cache/default/${name}/cache-fuse`] } } },
        volumeMounts: [
          { name: 'x-fuse-mount', mountPath: `/runtime-mnt/cache/default/${name}`, mountPropagation: 'Bidirectional' },
          { name: 'x-fuse-device', mountPath: '/dev/fuse' },
          { name: 'cache-dir-0', mountPath: '/cache' },
        ],
        ...more.container,
      },
    ],
    volumes: [
      { name: 'x-fuse-mount', hostPath: { path: `/runtime-mnt/cache/default/${name}`, type: 'DirectoryOrCreate' } },
      { name: 'x-fuse-device', hostPath: { path: '/dev/fuse', type: 'CharDevice' } },
      { name: 'cache-dir-0', hostPath: { path: '/mnt/cache' } },
    ],
    ...more.spec,
  })

const mounting = (where: string, type: string, more: Record<string, string> = {}) => {
  const [namespace = '', name = ''] = where.split('/')
  return { fluid_path: `/runtime-mnt/cache/${namespace}/${name}/cache-fuse`, mount_type: type, ...more }
}

/** All objects of a dataset that is bound, and its client. */
export const bound = (name: string, client: KubeObject = filesClient(name), attributes: Record<string, string> = {}): KubeObject[] => [
  ...aBoundDataset(name).filter(({ kind }) => kind !== 'PersistentVolume'),
  aVolume(name, mounting(`default/${name}`, 'fuse.cache-fuse', attributes)),
  client,
]

/** A dataset that refers to `storage/real`, without the copy of that one's client. */
export const aReference = (name: string, attributes: Record<string, string> = {}): KubeObject[] => [
  aClaim(name),
  aVolume(name, { ...mounting('storage/real', 'cache', attributes), runtime_namespace: 'storage', runtime_name: 'real' }),
  aDataset(`default/${name}`, { runtimes: [{ name, namespace: 'default', type: 'thin' }] }),
  aDataset('storage/real'),
  aRuntime('storage/real'),
]

/** A pod that asks for sidecars. */
export function aPod(claims: readonly string[], spec: PodSpec = {}, metadata: Pod['metadata'] = {}): Pod {
  const pod = asksForLocality(claims, spec, metadata)
  return { ...pod, metadata: { ...pod.metadata, labels: { 'serverless.fluid.io/inject': 'true', ...metadata.labels } } }
}

export interface Admitted {
  pod: Pod
  warnings: string[]
}

/** Throws what the author of the pod is told. */
export function admitted(pod: Pod, objects: readonly KubeObject[], options: DatasetSidecarOptions = {}): Admitted {
  const warnings: string[] = []
  const context: AdmissionContext = {
    read: readerOf(objects),
    nowMs: 0,
    newUid: () => 'uid',
    warn: (message) => void warnings.push(message),
    authorMay: () => Promise.reject(new Error('nobody is asked for rights')),
    adjust: () => Promise.reject(new Error('nothing is adjusted')),
  }
  const copy = structuredClone(pod)
  datasetSidecar(options).mutate?.(copy, 'default', context)
  return { pod: copy, warnings }
}
