/** The events of a reference, each once, with the status that says the same. */
import type { Dataset } from '../../../kinds/fluid/index.ts'
import type { EventIntent } from '../../../runtime/controller.ts'

const warning = (of: Dataset, reason: string, message: string): EventIntent => ({ of, type: 'Warning', reason, message })

export const deletionHeld = (of: Dataset, why: string): EventIntent => warning(of, 'ErrorDeleteDataset', why)
export const consentWithdrawn = (of: Dataset, why: string): EventIntent => warning(of, 'ConsentWithdrawn', why)
export const originalLost = (of: Dataset, why: string): EventIntent => warning(of, 'OriginalLost', why)
export const nameTaken = (of: Dataset, why: string): EventIntent => warning(of, 'ErrorProcessRuntime', why)
