/** Runs a script or a pod on a dataset. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { AGE_COLUMN, DATA_GROUP } from './groups.ts'
import { DURATION_COLUMN, operationStatus, PHASE_COLUMN, policy, runAfter, schedule, ttlSecondsAfterFinished } from './operation-parts.ts'
import { count, environment, flag, imageFields, podMetadata, resources, text, texts, volumeMounts, volumes } from './parts.ts'

const { optional } = s

const scriptFields = {
  ...imageFields,
  restartPolicy: s.withDefault(s.literals(['Never', 'OnFailure'], { description: 'What happens when it fails.' }), 'Never'),
  env: environment,
  volumes,
  volumeMounts,
  resources,
}

const script = s.object(
  {
    ...scriptFields,
    command: texts('What runs the script; default: the entry point of the image.'),
    source: s.string({ description: 'The script.' }),
  },
  { description: 'A script that does it.' },
)

const shell = s.object(
  {
    ...scriptFields,
    // Not described twice, which would make the definition larger than kubectl can apply: script gets them, and is checked.
    volumes: optional(s.array(s.open({ name: s.string() }), { description: 'Volumes that the volumeMounts can name.' })),
    command: texts('What runs the script; default: /bin/sh.'),
    script: text('The script.'),
    scrip: text('The same as script: give one of the two.'),
  },
  { description: 'The same as script in other words: give one of the two.' },
)

/** Those of a Job's spec. What would take the Job out of the hands of the operation is refused with a sentence. */
const jobFields = {
  template: optional(s.kubernetes('PodTemplateSpec', { description: 'The pod, with its labels and annotations.' })),
  activeDeadlineSeconds: optional(s.int64({ description: 'After how many seconds it has failed.' })),
  backoffLimit: count('How many failed pods are too many; default: 3.'),
  backoffLimitPerIndex: count('The same for each index.'),
  completionMode: text('NonIndexed or Indexed.'),
  completions: count('How many pods must succeed; default: 1.'),
  managedBy: text('Refused.'),
  manualSelector: flag('Refused.'),
  maxFailedIndexes: count('How many failed indexes are too many.'),
  parallelism: count('How many pods run at once; default: 1.'),
  podFailurePolicy: optional(s.kubernetes('PodFailurePolicy', { description: 'Which failures count.' })),
  podReplacementPolicy: text('When a pod is replaced: TerminatingOrFailed or Failed.'),
  selector: optional(s.kubernetes('LabelSelector', { description: 'Refused.' })),
  successPolicy: optional(s.kubernetes('SuccessPolicy', { description: 'When it has succeeded.' })),
  suspend: flag('Refused.'),
  ttlSecondsAfterFinished: count('Refused: the operation has a field of this name.'),
}

const processor = s.object(
  {
    serviceAccountName: text('The service account of the pod.'),
    podMetadata,
    image: text('The image of shell, with its tag.'),
    job: optional(
      s.object(
        { podSpec: optional(s.kubernetes('PodSpec', { description: 'The pod; the same as the spec of template.' })), ...jobFields },
        { description: 'A Job that does it.' },
      ),
    ),
    script: optional(script),
    shell: optional(shell),
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
    job: optional(s.object(jobFields, { description: 'The same as processor.job: give one of the two.' })),
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
