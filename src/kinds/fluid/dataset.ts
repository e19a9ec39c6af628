/** Data from one or more sources that a runtime of the same name and namespace caches. */
import { type Static, s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { AGE_COLUMN, CATEGORIES, DATA_GROUP } from './groups.ts'
import { count, encryptOptions, mount, text, textMap, texts, time, tolerations, user } from './parts.ts'

const { optional } = s

const boundRuntimes = (description: string) =>
  optional(
    s.array(
      s.object({
        name: text('Name of the runtime.'),
        namespace: text('Namespace of the runtime.'),
        category: text('What it is for: Accelerate.'),
        type: text('Its engine: alluxio, cache, jindo, juicefs, thin, …'),
        masterReplicas: count('How many masters it has.'),
      }),
      { description },
    ),
  )

const datasetSpec = s.object(
  {
    mounts: optional(s.array(mount, { minItems: 1, description: 'The sources, each at its own path.' })),
    owner: user('Who owns the files.'),
    nodeAffinity: optional(
      s.object({ required: optional(s.kubernetes('NodeSelector')) }, { description: 'The nodes that may hold the cache.' }),
    ),
    tolerations,
    accessModes: texts('How pods may mount the data; default: ReadOnlyMany.'),
    runtimes: boundRuntimes('Not used: the runtime is the one that has the name of the dataset.'),
    placement: optional(
      s.literals(['Exclusive', '', 'Shared'], {
        description: 'Whether nodes hold the cache of one dataset only (default), or of several.',
      }),
    ),
    dataRestoreLocation: optional(
      s.object(
        { path: text('The directory of the backup.'), nodeName: text('The node that has the directory.') },
        { description: 'A backup from which metadata is restored.' },
      ),
    ),
    sharedOptions: textMap('Options of all mounts.'),
    sharedEncryptOptions: encryptOptions('Options of all mounts whose values are in Secrets.'),
  },
  { description: 'What the data is, and where it may be cached.' },
)

const datasetCondition = s.object({
  type: s.string({ description: 'What is said: Ready, NotReady, Updating.' }),
  status: s.string({ description: 'True, False or Unknown.' }),
  reason: text('Why, in one word.'),
  message: text('For people.'),
  lastUpdateTime: time('When it was last written.'),
  lastTransitionTime: time('When the status last changed.'),
})

const datasetStatus = s.object(
  {
    mounts: optional(s.array(mount, { description: 'The sources that are mounted now.' })),
    ufsTotal: text('How large the data is at its sources.'),
    fileNum: text('How many files there are.'),
    phase: text('NotBound, Bound, Failed, Updating or DataMigrating.'),
    runtimes: boundRuntimes('The runtime that caches the data.'),
    conditions: s.array(datasetCondition, { description: 'What is known about it.' }),
    cacheStates: textMap('How much is cached, and how well that serves.'),
    hcfs: optional(
      s.object(
        { endpoint: text('Its address.'), underlayerFileSystemVersion: text('The version of the file system below.') },
        { description: 'The interface for programs of Hadoop.' },
      ),
    ),
    operationRef: textMap('The data operations that hold the dataset, by their kind.'),
    datasetRef: texts('The datasets that refer to this one, as namespace/name.'),
    dataLoadRef: text('Replaced by operationRef.'),
    dataBackupRef: text('Replaced by operationRef.'),
  },
  { description: 'Who caches the data, and how much.' },
)

export const Dataset = defineKind({
  group: DATA_GROUP,
  kind: 'Dataset',
  plural: 'datasets',
  shortNames: ['dataset'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(datasetSpec), status: optional(datasetStatus) }),
      description:
        'Dataset is data from one or more sources. A runtime of the same name caches it, and pods mount it by a claim of that name.',
      columns: [
        { name: 'Ufs Total Size', type: 'string', jsonPath: '.status.ufsTotal' },
        { name: 'Cached', type: 'string', jsonPath: '.status.cacheStates.cached' },
        { name: 'Cache Capacity', type: 'string', jsonPath: '.status.cacheStates.cacheCapacity' },
        { name: 'Cached Percentage', type: 'string', jsonPath: '.status.cacheStates.cachedPercentage' },
        { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
        { name: 'HCFS URL', type: 'string', jsonPath: '.status.hcfs.endpoint', priority: 10 },
        { name: 'TOTAL FILES', type: 'string', jsonPath: '.status.fileNum', priority: 11 },
        { name: 'CACHE HIT RATIO', type: 'string', jsonPath: '.status.cacheStates.cacheHitRatio', priority: 10 },
        AGE_COLUMN,
      ],
    },
  },
})

export type Dataset = ObjectOf<typeof Dataset, 'v1alpha1'>
export type DatasetSpec = Static<typeof datasetSpec>
export type DatasetStatus = Static<typeof datasetStatus>
export type DatasetCondition = Static<typeof datasetCondition>
