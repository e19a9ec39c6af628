/** A cache that is run by JuiceFS. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { AGE_COLUMN, CATEGORIES, DATA_GROUP } from './groups.ts'
import {
  cleanPolicy,
  containerPorts,
  environment,
  flag,
  imageFields,
  initUsers,
  networkMode,
  nodeSelector,
  podMetadata,
  resources,
  textMap,
  texts,
  user,
  versionSpec,
  volumeMounts,
  volumes,
} from './parts.ts'
import {
  componentReplicas,
  FUSE_COLUMNS,
  fuseGlobal,
  management,
  runtimeReplicas,
  runtimeStatus,
  SCALE_WITH_SELECTOR,
  tieredstore,
  WORKER_COLUMNS,
} from './runtime-parts.ts'

const { optional } = s

const options = textMap('Options of JuiceFS.')

const component = (description: string) =>
  optional(
    s.object(
      {
        replicas: componentReplicas,
        enabled: flag('Whether this component runs.'),
        ports: containerPorts,
        resources,
        options,
        env: environment,
        nodeSelector,
        volumeMounts,
        podMetadata,
        networkMode,
      },
      { description },
    ),
  )

const spec = s.object(
  {
    juicefsVersion: versionSpec('The image of all components.'),
    initUsers,
    master: component('Not used.'),
    worker: component('The workers.'),
    jobWorker: component('The workers of jobs.'),
    fuse: optional(
      s.object(
        {
          ...imageFields,
          env: environment,
          resources,
          options,
          nodeSelector,
          volumeMounts,
          cleanPolicy,
          podMetadata,
          networkMode,
          global: fuseGlobal,
        },
        { description: 'The mount of each node.' },
      ),
    ),
    tieredstore,
    configs: texts('Commands that are run before a mount.'),
    replicas: runtimeReplicas,
    runAs: user('Who runs the processes.'),
    disablePrometheus: flag('Whether there are no metrics.'),
    volumes,
    volumeClaimTemplates: optional(
      s.array(s.kubernetes('PersistentVolumeClaim'), { listType: 'atomic', description: 'Claims that each worker gets for itself.' }),
    ),
    podMetadata,
    management,
  },
  { description: 'Which cache is wanted.' },
)

export const JuiceFSRuntime = defineKind({
  group: DATA_GROUP,
  kind: 'JuiceFSRuntime',
  plural: 'juicefsruntimes',
  shortNames: ['juicefs'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(runtimeStatus) }),
      description: 'JuiceFSRuntime caches the Dataset of its name with JuiceFS.',
      scale: SCALE_WITH_SELECTOR,
      columns: [...WORKER_COLUMNS, ...FUSE_COLUMNS, AGE_COLUMN],
    },
  },
})

export type JuiceFSRuntime = ObjectOf<typeof JuiceFSRuntime, 'v1alpha1'>
