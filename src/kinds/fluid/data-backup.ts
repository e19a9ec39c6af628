/** Saves what a runtime knows about its files. */
import { s } from '../schema/builder.ts'
import { defineKind, type ObjectOf } from '../schema/define-kind.ts'
import { AGE_COLUMN, CATEGORIES, DATA_GROUP } from './groups.ts'
import { DURATION_COLUMN, operationStatus, PHASE_COLUMN, runAfter, ttlSecondsAfterFinished } from './operation-parts.ts'
import { text, user } from './parts.ts'

const { optional } = s

const spec = s.object(
  {
    dataset: optional(s.reference({ to: { group: DATA_GROUP, kind: 'Dataset' } }, { description: 'The dataset.' })),
    backupPath: text('Where the backup goes: local:///path or pvc://claim/path.'),
    runAs: user('Who writes it.'),
    runAfter,
    ttlSecondsAfterFinished,
  },
  { description: 'What is saved, and where.' },
)

export const DataBackup = defineKind({
  group: DATA_GROUP,
  kind: 'DataBackup',
  plural: 'databackups',
  shortNames: ['backup'],
  categories: CATEGORIES,
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: s.object({ spec: optional(spec), status: optional(operationStatus) }),
      description: 'DataBackup saves the metadata of a Dataset.',
      columns: [
        { name: 'Dataset', type: 'string', jsonPath: '.spec.dataset' },
        PHASE_COLUMN,
        { name: 'Path', type: 'string', jsonPath: '.status.infos.BackupLocationPath' },
        { name: 'NodeName', type: 'string', jsonPath: '.status.infos.BackupLocationNodeName' },
        DURATION_COLUMN,
        AGE_COLUMN,
      ],
    },
  },
})

export type DataBackup = ObjectOf<typeof DataBackup, 'v1alpha1'>
