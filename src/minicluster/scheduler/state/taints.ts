/** Taints of nodes and what pods tolerate of them. */
import type { Taint, Toleration } from '../../../kinds/kubernetes/types.ts'

function toleratesTaint(toleration: Toleration, taint: Taint): boolean {
  const { effect = '', key = '', operator = '' } = toleration
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  if (operator === 'Exists') return true
  return (operator === '' || operator === 'Equal') && (toleration.value ?? '') === (taint.value ?? '')
}

export const isTolerated = (taint: Taint, tolerations: readonly Toleration[]): boolean =>
  tolerations.some((toleration) => toleratesTaint(toleration, taint))

/** Whether some taint keeps the pod away from the node altogether. */
export const isKeptAway = (taints: readonly Taint[] | undefined, tolerations: readonly Toleration[]): boolean =>
  taints?.some((taint) => (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') && !isTolerated(taint, tolerations)) === true
