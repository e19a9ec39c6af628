/** Runs a script or a pod on a dataset. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { AGE_COLUMN, DATA_GROUP } from './groups.ts'
import { DURATION_COLUMN, operationStatus, PHASE_COLUMN, policy, runAfter, schedule, ttlSecondsAfterFinished } from './operation-parts.ts'
import { environment, imageFields, podMetadata, resources, text, texts, volumeMounts, volumes } from './parts.ts'

const { optional } = s

const processor = s.object(
  {
    serviceAccountName: text('The service account of the pod.'),
    podMetadata,
    job: optional(
      s.object({ podSpec: optional(s.kubernetes('PodSpec', { description: 'The pod.' })) }, { description: 'A pod that does it.' }),
    ),
    script: optional(
      s.object(
        {
          ...imageFields,
          restartPolicy: s.withDefault(s.literals(['Never', 'OnFailure'], { description: 'What happens when it fails.' }), 'Never'),
          command: texts('What runs the script; default: a shell.'),
          source: s.string({ description: 'The script.' }),
          env: environment,
          volumes,
          volumeMounts,
          resources,
        },
        { description: 'A script that does it.' },
      ),
    ),
  },
  { description: 'What is done: a job or a script.' },
)

const spec = s.object(
  {
    dataset: s.object(
      {
        name: s.string({ description: 'Name of the dataset.' }),
        namespace: text('Namespace of the dataset.'),
        mountPath: s.string({ description: 'Where the pod finds it.' }),
        subPath: text('The part of the dataset that is mounted; default: all of it.'),
      },
      { description: 'The dataset.' },
    ),
    processor,
    runAfter,
    ttlSecondsAfterFinished,
    policy,
    schedule,
  },
  { description: 'What is done with which dataset, and when.' },
)

export const DataProcess = defineKind({
  group: DATA_GROUP,
  kind: 'DataProcess',
  plural: 'dataprocesses',
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(operationStatus) }),
      description: 'DataProcess runs a script or a pod on a Dataset.',
      columns: [{ name: 'Dataset', type: 'string', jsonPath: '.spec.dataset.name' }, PHASE_COLUMN, AGE_COLUMN, DURATION_COLUMN],
    },
  },
})

export type DataProcess = ObjectOf<typeof DataProcess, 'v1alpha1'>
