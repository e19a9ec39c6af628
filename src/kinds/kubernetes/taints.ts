/** Taints of nodes and the tolerations of pods. Karmada's taints of clusters match by the same rules. */
import type { Taint, Toleration } from './types.ts'

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { effect = '', key = '', operator = '' } = toleration
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  if (operator === 'Exists') return true
  return (operator === '' || operator === 'Equal') && (toleration.value ?? '') === (taint.value ?? '')
}

export const isTolerated = (taint: Taint, tolerations: readonly Toleration[]): boolean =>
  tolerations.some((toleration) => tolerates(toleration, taint))

/** Whether some taint keeps the pod off the node altogether. */
export const isKeptAway = (taints: readonly Taint[] | undefined, tolerations: readonly Toleration[]): boolean =>
  taints?.some((taint) => (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') && !isTolerated(taint, tolerations)) === true
