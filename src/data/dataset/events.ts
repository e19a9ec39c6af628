/** The events of a dataset, with Fluid's reasons and words. */
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { EventIntent } from '../../runtime/controller.ts'

export const deletionHeld = (of: Dataset, why: string): EventIntent => ({ of, type: 'Warning', reason: 'ErrorDeleteDataset', message: why })

export const mountFailed = (of: Dataset): EventIntent => ({
  of,
  type: 'Warning',
  reason: 'RuntimeMountUfsFailed',
  message: 'Failed to execute mount ufs command',
})

export const nameTaken = (of: Dataset, why: string): EventIntent => ({ of, type: 'Warning', reason: 'ErrorProcessRuntime', message: why })
