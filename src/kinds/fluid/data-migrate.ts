/** Copies data between a dataset and somewhere else. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { AGE_COLUMN, CATEGORIES, DATA_GROUP } from './groups.ts'
import { DURATION_COLUMN, operationStatus, PHASE_COLUMN, policy, runAfter, schedule, ttlSecondsAfterFinished } from './operation-parts.ts'
import { affinity, encryptOptions, flag, imageFields, nodeSelector, podMetadata, resources, text, textMap, tolerations } from './parts.ts'

const { optional } = s

const end = (description: string) =>
  s.object(
    {
      dataset: optional(
        s.object(
          {
            name: s.string({ description: 'Name of the dataset.' }),
            namespace: s.string({ description: 'Namespace of the dataset.' }),
            path: text('A path of the dataset; default: all of it.'),
          },
          { description: 'A dataset.' },
        ),
      ),
      externalStorage: optional(
        s.object(
          { uri: s.string({ description: 'Its address.' }), encryptOptions: encryptOptions('Options whose values are in Secrets.') },
          { description: 'Storage outside.' },
        ),
      ),
    },
    { description },
  )

const spec = s.object(
  {
    ...imageFields,
    from: end('Where the data is.'),
    to: end('Where it goes.'),
    block: flag('Without effect.'),
    runtimeType: text('The engine that does it.'),
    options: textMap('Options of the engine.'),
    policy,
    schedule,
    podMetadata,
    affinity,
    tolerations,
    nodeSelector,
    schedulerName: text('The scheduler of the pods.'),
    runAfter,
    ttlSecondsAfterFinished,
    resources,
    parallelism: s.withDefault(s.int32({ minimum: 1, description: 'How many pods copy at once.' }), 1),
    parallelOptions: textMap('Options for several pods.'),
  },
  { description: 'What is copied, and when.' },
)

export const DataMigrate = defineKind({
  group: DATA_GROUP,
  kind: 'DataMigrate',
  plural: 'datamigrates',
  shortNames: ['migrate'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(operationStatus) }),
      description: 'DataMigrate copies data between a Dataset and another place.',
      columns: [PHASE_COLUMN, AGE_COLUMN, DURATION_COLUMN],
    },
  },
})

export type DataMigrate = ObjectOf<typeof DataMigrate, 'v1alpha1'>
