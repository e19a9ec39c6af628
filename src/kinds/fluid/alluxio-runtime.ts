/** A cache that is run by Alluxio. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { AGE_COLUMN, CATEGORIES, DATA_GROUP } from './groups.ts'
import {
  cleanPolicy,
  count,
  flag,
  imageFields,
  imagePullSecrets,
  initUsers,
  networkMode,
  nodeSelector,
  podMetadata,
  portMap,
  resources,
  text,
  textMap,
  texts,
  user,
  versionSpec,
  volumeMounts,
  volumes,
} from './parts.ts'
import {
  API_GATEWAY_COLUMN,
  componentReplicas,
  FUSE_COLUMNS,
  fuseGlobal,
  MASTER_COLUMNS,
  management,
  runtimeReplicas,
  runtimeStatus,
  SCALE_WITH_SELECTOR,
  tieredstore,
  WORKER_COLUMNS,
} from './runtime-parts.ts'

const { optional } = s

const jvmOptions = texts('Options of the Java virtual machine.')
const properties = textMap('Properties of Alluxio.')
const env = textMap('Environment of the container.')

const component = (description: string) =>
  optional(
    s.object(
      {
        replicas: componentReplicas,
        enabled: flag('Whether this component runs.'),
        jvmOptions,
        properties,
        ports: portMap,
        resources,
        env,
        nodeSelector,
        networkMode,
        volumeMounts,
        podMetadata,
        imagePullSecrets,
      },
      { description },
    ),
  )

const spec = s.object(
  {
    alluxioVersion: versionSpec('The image of all components.'),
    master: component('The masters.'),
    jobMaster: component('The masters of jobs.'),
    worker: component('The workers.'),
    jobWorker: component('The workers of jobs.'),
    apiGateway: component('The interface over HTTP.'),
    initUsers,
    fuse: optional(
      s.object(
        {
          ...imageFields,
          imagePullSecrets,
          jvmOptions,
          properties,
          env,
          resources,
          args: texts('Arguments of the mount.'),
          nodeSelector,
          cleanPolicy,
          networkMode,
          volumeMounts,
          podMetadata,
          global: fuseGlobal,
        },
        { description: 'The mount of each node.' },
      ),
    ),
    properties,
    jvmOptions,
    tieredstore,
    data: optional(
      s.object(
        { replicas: count('How many copies there are.'), pin: flag('Whether data is never evicted.') },
        { description: 'How data is kept.' },
      ),
    ),
    replicas: runtimeReplicas,
    runAs: user('Who runs the processes.'),
    disablePrometheus: flag('Whether there are no metrics.'),
    hadoopConfig: text('A ConfigMap with the configuration of Hadoop.'),
    volumes,
    podMetadata,
    management,
    imagePullSecrets,
  },
  { description: 'Which cache is wanted.' },
)

export const AlluxioRuntime = defineKind({
  group: DATA_GROUP,
  kind: 'AlluxioRuntime',
  plural: 'alluxioruntimes',
  shortNames: ['alluxio'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(runtimeStatus) }),
      description: 'AlluxioRuntime caches the Dataset of its name with Alluxio.',
      scale: SCALE_WITH_SELECTOR,
      columns: [...MASTER_COLUMNS, ...WORKER_COLUMNS, ...FUSE_COLUMNS, API_GATEWAY_COLUMN, AGE_COLUMN],
    },
  },
})

export type AlluxioRuntime = ObjectOf<typeof AlluxioRuntime, 'v1alpha1'>
