/** Brings data into the cache before it is read. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { AGE_COLUMN, CATEGORIES, DATA_GROUP } from './groups.ts'
import { DURATION_COLUMN, operationStatus, PHASE_COLUMN, policy, runAfter, schedule, ttlSecondsAfterFinished } from './operation-parts.ts'
import { affinity, count, flag, nodeSelector, podMetadata, resources, text, textMap, tolerations } from './parts.ts'

const { optional } = s

const spec = s.object(
  {
    dataset: optional(
      s.object(
        { name: s.string({ description: 'Name of the dataset.' }), namespace: text('Namespace of the dataset.') },
        { description: 'The dataset.' },
      ),
    ),
    loadMetadata: flag('Whether the sources are listed again first.'),
    target: optional(
      s.array(s.object({ path: s.string({ description: 'A path of the dataset.' }), replicas: count('How many copies are cached.') }), {
        description: 'What is loaded; default: everything.',
      }),
    ),
    options: textMap('Options of the engine.'),
    podMetadata,
    affinity,
    tolerations,
    nodeSelector,
    schedulerName: text('The scheduler of the pods.'),
    policy,
    schedule,
    runAfter,
    ttlSecondsAfterFinished,
    resources,
  },
  { description: 'What is loaded, and when.' },
)

export const DataLoad = defineKind({
  group: DATA_GROUP,
  kind: 'DataLoad',
  plural: 'dataloads',
  shortNames: ['load'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(operationStatus) }),
      description: 'DataLoad brings data of a Dataset into its cache.',
      columns: [{ name: 'Dataset', type: 'string', jsonPath: '.spec.dataset.name' }, PHASE_COLUMN, AGE_COLUMN, DURATION_COLUMN],
    },
  },
})

export type DataLoad = ObjectOf<typeof DataLoad, 'v1alpha1'>
