/** Says on DataLoads that nothing carries them out. See unserved.ts for what it writes, what triggers it and what a deletion does. */
import { DATA_LOADS } from '../../../kinds/fluid/resources.ts'
import { unservedOperations } from '../unserved.ts'

export const dataLoadController = unservedOperations({
  name: 'data.operation.load',
  resource: DATA_LOADS,
  instead: "run sluice cache preload in the master of the dataset's cache, or set the option preload of its CacheRuntime",
})
