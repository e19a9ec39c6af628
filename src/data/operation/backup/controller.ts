/** Says on DataBackups that nothing carries them out. See unserved.ts for what it writes, what triggers it and what a deletion does. */
import { DATA_BACKUPS } from '../../../kinds/fluid/resources.ts'
import { unservedOperations } from '../unserved.ts'

export const dataBackupController = unservedOperations({
  name: 'data.operation.backup',
  resource: DATA_BACKUPS,
  instead: 'a cache of the class builtin needs none, its sources are listed again',
})
