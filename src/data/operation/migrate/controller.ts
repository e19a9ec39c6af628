/** Says on DataMigrates that nothing carries them out. See unserved.ts for what it writes, what triggers it and what a deletion does. */
import { DATA_MIGRATES } from '../../../kinds/fluid/resources.ts'
import { unservedOperations } from '../unserved.ts'

export const dataMigrateController = unservedOperations({
  name: 'data.operation.migrate',
  resource: DATA_MIGRATES,
  instead: 'run a Job that mounts both datasets and copies',
})
