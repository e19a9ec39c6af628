/**
 * A cache of any engine: its class says what it runs. Two things that Fluid's definition lacks are here: it can be scaled,
 * and its columns show something.
 */
import { type Static, s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { AGE_COLUMN, CATEGORIES, DATA_GROUP } from './groups.ts'
import {
  count,
  environment,
  flag,
  imagePullSecrets,
  nodeAffinity,
  podMetadata,
  probedCondition,
  resources,
  text,
  textMap,
  time,
  tolerations,
  versionSpec,
  volumeMounts,
  volumes,
} from './parts.ts'

const { optional } = s

const quota = s.quantity({ description: 'How much the cache may take.' })

const level = s.object({
  processMemory: optional(s.object({ quota }, { description: 'Memory of the process itself.' })),
  emptyDir: optional(
    s.object(
      { quota, medium: text('Memory for a directory in memory; default: the disk of the node.') },
      { description: 'A directory that goes with the pod.' },
    ),
  ),
  hostPath: optional(
    s.object(
      {
        paths: s.array(s.string(), { minItems: 1, description: 'Directories of the node.' }),
        quotas: s.array(s.quantity(), { minItems: 1, description: 'How much each of the directories may hold.' }),
        type: text('What must be there before, as in a hostPath volume.'),
      },
      { description: 'Directories of the node, which stay when the pod goes.' },
    ),
  ),
  high: text('The ratio of use above which room is made.'),
  low: text('The ratio of use down to which room is made.'),
})

const tieredStore = optional(
  s.object(
    { levels: optional(s.array(level, { description: 'Where it is stored, fastest first. Each level has one medium.' })) },
    { description: 'Where the cache is stored.' },
  ),
)

const common = {
  disabled: flag('Whether this component is left out.'),
  runtimeVersion: versionSpec('The image, instead of that of the class.'),
  options: textMap('Options of this component. They win over those of the runtime and of the class.'),
  podMetadata,
  resources,
  env: environment,
  volumeMounts,
  args: optional(s.array(s.string(), { listType: 'atomic', description: 'Arguments, instead of those of the class.' })),
  nodeSelector: optional(s.map(s.string(), { mapType: 'atomic', description: 'Labels of the nodes that pods may run on.' })),
  tolerations,
}

const replicas = s.withDefault(s.int32({ minimum: 0, description: 'How many pods there are.' }), 1)

const spec = s.object(
  {
    runtimeClassName: s.reference(
      { to: { group: DATA_GROUP, kind: 'CacheRuntimeClass' } },
      { description: 'The class that says what is run.' },
    ),
    master: optional(s.object({ ...common, replicas }, { description: 'The pods that know the files.' })),
    worker: optional(s.object({ ...common, replicas, tieredStore }, { description: 'The pods that hold the cache.' })),
    client: optional(
      s.object(
        {
          ...common,
          tieredStore,
          cleanPolicy: s.withDefault(
            s.literals(['OnRuntimeDeleted', 'OnDemand'], {
              description: 'Whether the client of a node goes with the runtime or with its last reader.',
            }),
            'OnRuntimeDeleted',
          ),
        },
        { description: 'The pods that give other pods access, one on each node that needs it.' },
      ),
    ),
    options: textMap('Options of all components. They win over those of the class.'),
    podMetadata,
    imagePullSecrets,
    volumes,
  },
  { description: 'Which cache is wanted.' },
)

const componentStatus = (description: string) =>
  optional(
    s.object(
      {
        phase: s.string({ description: 'NotReady, PartialReady or Ready; empty before it exists.' }),
        reason: text('Why, in one word.'),
        message: text('For people.'),
        desiredReplicas: count('Pods that are wanted.'),
        currentReplicas: count('Pods that exist.'),
        readyReplicas: count('Pods that are ready.'),
        availableReplicas: count('Pods that are available.'),
        unavailableReplicas: count('Pods that are wanted and not available.'),
      },
      { description },
    ),
  )

const status = s.object(
  {
    valueFile: text('The ConfigMap that the components read.'),
    setupDuration: text('How long it took until the dataset was bound.'),
    conditions: optional(s.array(probedCondition, { listType: 'map', mapKeys: ['type'], description: 'What is known about it.' })),
    selector: text('The selector of the workers, as text.'),
    cacheAffinity: nodeAffinity('The nodes that hold the cache.'),
    mountTime: time('When the sources were last mounted.'),
    master: componentStatus('The masters.'),
    worker: componentStatus('The workers.'),
    client: componentStatus('The clients.'),
  },
  { description: 'What runs.' },
)

export const CacheRuntime = defineKind({
  group: DATA_GROUP,
  kind: 'CacheRuntime',
  plural: 'cacheruntimes',
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(status) }),
      description: 'CacheRuntime caches the Dataset of its name with what its class says.',
      scale: {
        specReplicasPath: '.spec.worker.replicas',
        statusReplicasPath: '.status.worker.currentReplicas',
        labelSelectorPath: '.status.selector',
      },
      columns: [
        { name: 'Class', type: 'string', jsonPath: '.spec.runtimeClassName', priority: 10 },
        { name: 'Master Phase', type: 'string', jsonPath: '.status.master.phase', priority: 10 },
        { name: 'Ready Workers', type: 'integer', jsonPath: '.status.worker.readyReplicas', priority: 10 },
        { name: 'Desired Workers', type: 'integer', jsonPath: '.status.worker.desiredReplicas', priority: 10 },
        { name: 'Phase', type: 'string', jsonPath: '.status.worker.phase', description: 'The phase of the workers.' },
        { name: 'Client Phase', type: 'string', jsonPath: '.status.client.phase', priority: 10 },
        AGE_COLUMN,
      ],
    },
  },
})

export type CacheRuntime = ObjectOf<typeof CacheRuntime, 'v1alpha1'>
export type CacheRuntimeSpec = Static<typeof spec>
export type CacheRuntimeStatus = Static<typeof status>
export type CacheRuntimeComponentStatus = NonNullable<CacheRuntimeStatus['worker']>
export type CacheTierLevel = Static<typeof level>
