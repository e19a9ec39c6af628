/** Options of Fluid's that are accepted and not needed: several workers that copy over SSH. Pure. */
import { formatTime } from '../../base/clock.ts'
import type { DataMigrate } from '../../kinds/fluid/index.ts'
import type { Operation } from '../../kinds/fluid/operation.ts'
import type { OperationStatus } from '../../kinds/fluid/operation-parts.ts'
import { statusOf } from './spec.ts'

type Condition = OperationStatus['conditions'][number]

const TYPE = 'ParallelOptionsNotNeeded'

/** Beside how it ended: of a DataMigrate whose author has set up SSH for nothing. Once said, its times stay. */
export function besides(operation: Operation, nowMs: number): Condition[] {
  if (operation.kind !== 'DataMigrate') return []
  const { parallelOptions = {}, parallelism = 1 } = (operation as DataMigrate).spec ?? {}
  const options = Object.keys(parallelOptions).sort()
  if (options.length === 0) return []
  const said = statusOf(operation).conditions?.find(({ type }) => type === TYPE)
  const at = formatTime(nowMs)
  const copies = parallelism === 1 ? 'files are copied' : `${parallelism} files at a time are copied`
  return [
    {
      ...{ type: TYPE, status: 'True', reason: 'CopiesInOnePod' },
      message: `${copies} by one pod without SSH: parallelOptions and the Secret that they name can be removed`,
      ...{ lastProbeTime: said?.lastProbeTime ?? at, lastTransitionTime: said?.lastTransitionTime ?? at },
    },
  ]
}
