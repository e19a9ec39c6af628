/** Says on DataProcesss that nothing carries them out. See unserved.ts for what it writes, what triggers it and what a deletion does. */
import { DATA_PROCESSES } from '../../../kinds/fluid/resources.ts'
import { unservedOperations } from '../unserved.ts'

export const dataProcessController = unservedOperations({
  name: 'data.operation.process',
  resource: DATA_PROCESSES,
  instead: "run a Job that mounts the dataset's claim",
})
