/** A cache that is run by Jindo. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { CATEGORIES, DATA_GROUP } from './groups.ts'
import {
  cleanPolicy,
  flag,
  imageFields,
  imagePullSecrets,
  networkMode,
  nodeSelector,
  podMetadata,
  portMap,
  resources,
  text,
  textMap,
  texts,
  tolerations,
  user,
  versionSpec,
  volumeMounts,
  volumes,
} from './parts.ts'
import {
  ALL_COLUMNS,
  cleanCachePolicy,
  componentReplicas,
  fuseGlobal,
  runtimeReplicas,
  runtimeStatus,
  SCALE_WITH_SELECTOR,
  tieredstore,
} from './runtime-parts.ts'

const { optional } = s

const properties = textMap('Properties of Jindo.')
const env = textMap('Environment of the container.')
const labels = textMap('Outdated: use podMetadata.')
const disabled = flag('Whether this component is left out.')
const logConfig = textMap('What is logged.')

const component = (description: string) =>
  optional(
    s.object(
      {
        replicas: componentReplicas,
        properties,
        ports: portMap,
        resources,
        env,
        nodeSelector,
        tolerations,
        labels,
        podMetadata,
        disabled,
        volumeMounts,
        imagePullSecrets,
      },
      { description },
    ),
  )

const spec = s.object(
  {
    jindoVersion: versionSpec('The image of all components.'),
    master: component('The masters.'),
    worker: component('The workers.'),
    fuse: optional(
      s.object(
        {
          ...imageFields,
          imagePullSecrets,
          properties,
          env,
          resources,
          args: texts('Arguments of the mount.'),
          nodeSelector,
          tolerations,
          labels,
          podMetadata,
          cleanPolicy,
          disabled,
          logConfig,
          metrics: optional(
            s.object(
              { enabled: flag('Whether there are metrics.'), scrapeTarget: text('MountPod, Sidecar, All or None, separated by commas.') },
              { description: 'Metrics of the mounts.' },
            ),
          ),
          global: fuseGlobal,
        },
        { description: 'The mount of each node.' },
      ),
    ),
    properties,
    tieredstore,
    replicas: runtimeReplicas,
    runAs: user('Who runs the processes.'),
    user: text('The user of Jindo.'),
    hadoopConfig: text('A ConfigMap with the configuration of Hadoop.'),
    secret: text('A Secret with credentials of the source.'),
    labels,
    podMetadata,
    logConfig,
    networkmode: networkMode,
    cleanCachePolicy,
    volumes,
    imagePullSecrets,
  },
  { description: 'Which cache is wanted.' },
)

export const JindoRuntime = defineKind({
  group: DATA_GROUP,
  kind: 'JindoRuntime',
  plural: 'jindoruntimes',
  shortNames: ['jindo'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(runtimeStatus) }),
      description: 'JindoRuntime caches the Dataset of its name with Jindo.',
      scale: SCALE_WITH_SELECTOR,
      columns: ALL_COLUMNS,
    },
  },
})

export type JindoRuntime = ObjectOf<typeof JindoRuntime, 'v1alpha1'>
