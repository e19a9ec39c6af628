/** The objects of stories: classes whose pods count as running, datasets on the nodes of the story, runtimes and readers. */
import type {
  CacheRuntime,
  CacheRuntimeClass,
  CacheRuntimeComponent,
  CacheRuntimeSpec,
  Dataset,
  DatasetSpec,
} from '../../src/kinds/fluid/index.ts'
import type { Pod, PodSpec, PodTemplateSpec } from '../../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { DataTestbed } from './story.ts'

const API_VERSION = 'data.fluid.io/v1alpha1'

export const MOUNTS = [{ mountPoint: 's3://one', name: 'one' }]

/** A pod of simulated nodes that does not count as simulated, so that commands can be run in it. */
export const RUNS = {
  annotations: { 'sluice.dev/run': 'process' },
  tolerations: [{ key: 'sluice.dev/simulated', operator: 'Exists' }],
} as const

const template = (name: string): PodTemplateSpec => ({
  metadata: { annotations: { ...RUNS.annotations } },
  spec: { containers: [{ name, image: `example.com/${name}:1` }], tolerations: [...RUNS.tolerations] },
})

export const componentOf = (name: string, more: Partial<CacheRuntimeComponent> = {}): CacheRuntimeComponent => ({
  template: template(name),
  ...more,
})

/** `sluice cache mount` and the like, of the story's own: see `answering` for what they answer. */
export const COMMANDS = {
  executionEntries: { mountUFS: { command: ['cache', 'mount'] }, reportSummary: { command: ['cache', 'report'] } },
}

export const className = ({ unique }: DataTestbed): string => unique('sample')

/** Without commands, unless `more` has a master with `COMMANDS`. */
export const aClass = (testbed: DataTestbed, more: Partial<CacheRuntimeClass> = {}): CacheRuntimeClass => ({
  apiVersion: API_VERSION,
  kind: 'CacheRuntimeClass',
  metadata: { name: className(testbed) },
  fileSystemType: 'samplefs',
  topology: {
    master: componentOf('master', { service: { headless: {} } }),
    worker: componentOf('worker'),
    client: componentOf('client'),
  },
  ...more,
})

/** Its master mounts sources and reports. */
export const aClassWithCommands = (testbed: DataTestbed): CacheRuntimeClass => {
  const { topology } = aClass(testbed)
  return aClass(testbed, { topology: { ...topology, master: componentOf('master', COMMANDS) } })
}

interface Named {
  name?: string
  annotations?: Record<string, string>
}

export const aDataset = (
  testbed: DataTestbed,
  spec: Partial<DatasetSpec> = {},
  { name = 'demo', annotations = {} }: Named = {},
): Dataset => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: { name, annotations },
  spec: { mounts: MOUNTS, nodeAffinity: { required: testbed.ownNodes }, ...spec },
})

export const aRuntime = (
  testbed: DataTestbed,
  spec: Partial<CacheRuntimeSpec> = {},
  { name = 'demo', annotations = {} }: Named = {},
): CacheRuntime => ({
  apiVersion: API_VERSION,
  kind: 'CacheRuntime',
  metadata: { name, annotations },
  spec: { runtimeClassName: className(testbed), ...spec },
})

/** Of any kind, with pods that count as running if it is translated. */
export const aRuntimeOf = (kind: string, spec: object = {}, name = 'demo'): KubeObject => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name },
  spec: { podMetadata: { annotations: { ...RUNS.annotations } }, ...spec },
})

export interface Served {
  dataset?: Partial<DatasetSpec>
  runtime?: Partial<CacheRuntimeSpec>
  runtimeClass?: CacheRuntimeClass
}

/** A class, a dataset and its runtime. */
export async function serve(testbed: DataTestbed, { dataset, runtime, runtimeClass }: Served = {}): Promise<void> {
  await testbed.create(runtimeClass ?? aClass(testbed))
  await testbed.create(aDataset(testbed, dataset))
  await testbed.create(aRuntime(testbed, runtime))
}

/** Further datasets of the same class. */
export async function another(testbed: DataTestbed, name: string, { dataset, runtime }: Served = {}): Promise<void> {
  await testbed.create(aDataset(testbed, dataset, { name }))
  await testbed.create(aRuntime(testbed, runtime, { name }))
}

interface Reading {
  name?: string
  claims?: readonly string[]
  labels?: Record<string, string>
  annotations?: Record<string, string>
  spec?: Partial<PodSpec>
}

/** A pod that mounts claims and asks to be near their datasets. It stays on the nodes of the story. */
export const aReader = (
  { ownNodes }: DataTestbed,
  { name = 'reader', claims = ['demo'], labels = {}, annotations, spec }: Reading = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    labels: { 'fuse.serverful.fluid.io/inject': 'true', ...labels },
    ...(annotations === undefined ? {} : { annotations }),
  },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      { name: 'reader', image: 'reader', volumeMounts: claims.map((claim) => ({ name: `data-${claim}`, mountPath: `/data/${claim}` })) },
    ],
    volumes: claims.map((claim) => ({ name: `data-${claim}`, persistentVolumeClaim: { claimName: claim } })),
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: ownNodes } },
    ...spec,
  },
})

export const requiring = (...claims: string[]): Record<string, string> =>
  Object.fromEntries(claims.map((claim) => [`fluid.io/dataset.${claim}.sched`, 'required']))
