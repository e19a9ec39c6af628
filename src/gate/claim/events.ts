/** The events on a claim. */
import type { KubeObject } from '../../kube/meta.ts'
import type { EventIntent } from '../../runtime/controller.ts'

export const bound = (of: KubeObject, source: string, because: string | undefined): EventIntent => ({
  of,
  type: 'Normal',
  reason: 'Bound',
  message: because === undefined ? `DataSource ${source} is bound` : `DataSource ${source} is bound: ${because}`,
})

export const lost = (of: KubeObject, because = 'the DataSource that was bound can no longer be used'): EventIntent => ({
  of,
  type: 'Warning',
  reason: 'BindingInvalid',
  message: because,
})
