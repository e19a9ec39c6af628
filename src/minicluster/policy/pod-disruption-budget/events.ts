/** The events of a disruption budget, worded as in kube-controller-manager. */
import type { LabelSelector, Pod, PodDisruptionBudget } from '../../../kinds/kubernetes/types.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import type { EventIntent } from '../../../runtime/controller.ts'

export const noPods = (of: PodDisruptionBudget): EventIntent => ({
  of,
  type: 'Normal',
  reason: 'NoPods',
  message: 'No matching pods found',
})

export const cannotCount = (of: PodDisruptionBudget, why: string): EventIntent => ({
  ...{ of, type: 'Warning', reason: 'CalculateExpectedPodCountFailed' },
  message: `Failed to calculate the number of expected pods: ${why}`,
})

export const unmanagedPods = (of: PodDisruptionBudget): EventIntent => ({
  ...{ of, type: 'Warning', reason: 'UnmanagedPods' },
  message:
    `Pods selected by this PodDisruptionBudget (selector: ${print(of.spec?.selector)}) were found to be unmanaged. As a result, the status ` +
    'of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ' +
    '".spec.minAvailable" field of the PDB to an integer value.',
})

/** With the namespace twice, as there. */
export const notDeleted = ({ metadata }: PodDisruptionBudget, of: Pod): EventIntent => ({
  ...{ of, type: 'Warning', reason: 'NotDeleted' },
  message: `Pod was expected by PDB ${metadata.namespace}/${metadata.namespace} to be deleted but it wasn't`,
})

/** As Go prints a *metav1.LabelSelector. */
function print(selector: LabelSelector | undefined): string {
  if (selector === undefined) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => compareStrings(a, b))
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  const pairs = labels.map(([key, value]) => `${key}: ${value},`).join('')
  return `&LabelSelector{MatchLabels:map[string]string{${pairs}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}
