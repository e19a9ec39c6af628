/** Shared memory that is run by Vineyard. Nothing here serves it. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { AGE_COLUMN, CATEGORIES, DATA_GROUP } from './groups.ts'
import {
  cleanPolicy,
  encryptOptions,
  flag,
  imageFields,
  networkMode,
  nodeSelector,
  podMetadata,
  portMap,
  resources,
  text,
  textMap,
  volumeMounts,
  volumes,
} from './parts.ts'
import {
  API_GATEWAY_COLUMN,
  componentReplicas,
  FUSE_COLUMNS,
  fuseGlobalWithoutEffect,
  MASTER_COLUMNS,
  runtimeReplicas,
  runtimeStatus,
  SCALE_WITH_SELECTOR,
  tieredstore,
  WORKER_COLUMNS,
} from './runtime-parts.ts'

const { optional } = s

const options = textMap('Options of Vineyard.')
const env = textMap('Environment of the container.')

const component = {
  ...imageFields,
  replicas: componentReplicas,
  options,
  env,
  ports: portMap,
  resources,
  nodeSelector,
  volumeMounts,
  podMetadata,
  networkMode,
}

const spec = s.object(
  {
    master: optional(
      s.object(
        {
          ...component,
          endpoint: optional(
            s.object(
              { uri: text('Its address.'), options, encryptOptions: encryptOptions('Options whose values are in Secrets.') },
              { description: 'A store of metadata that exists already.' },
            ),
          ),
        },
        { description: 'The masters.' },
      ),
    ),
    worker: optional(s.object(component, { description: 'The workers.' })),
    fuse: optional(
      s.object(
        { ...imageFields, env, options, resources, cleanPolicy, podMetadata, networkMode, global: fuseGlobalWithoutEffect },
        { description: 'The client of each node.' },
      ),
    ),
    tieredstore,
    replicas: runtimeReplicas,
    disablePrometheus: flag('Whether there are no metrics.'),
    volumes,
    podMetadata,
  },
  { description: 'Which memory is wanted.' },
)

export const VineyardRuntime = defineKind({
  group: DATA_GROUP,
  kind: 'VineyardRuntime',
  plural: 'vineyardruntimes',
  shortNames: ['v6d'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(runtimeStatus) }),
      description: 'VineyardRuntime shares objects in memory for the Dataset of its name.',
      scale: SCALE_WITH_SELECTOR,
      columns: [...MASTER_COLUMNS, ...WORKER_COLUMNS, ...FUSE_COLUMNS, API_GATEWAY_COLUMN, AGE_COLUMN],
    },
  },
})

export type VineyardRuntime = ObjectOf<typeof VineyardRuntime, 'v1alpha1'>
