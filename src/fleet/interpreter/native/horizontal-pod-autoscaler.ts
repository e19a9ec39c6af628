/** autoscaling/v2 HorizontalPodAutoscaler. */
import { numberAt } from '../../../kube/fields.ts'
import type { KindRules } from '../interpreter.ts'
import { memberStatuses, printedCounters, sumOf, wholeStatus, withStatus } from './status.ts'

const ALWAYS = ['desiredReplicas'] as const
const UNLESS_ZERO = ['currentReplicas'] as const

export const horizontalPodAutoscalerRules: KindRules = {
  aggregate: (template, items) => {
    const members = memberStatuses(items)
    return withStatus(
      template,
      printedCounters((counter) => sumOf(members, counter), ALWAYS, UNLESS_ZERO),
    )
  },
  reflect: (autoscaler) => {
    const status = wholeStatus(autoscaler)
    return status === undefined ? undefined : printedCounters((counter) => numberAt(status, counter) ?? 0, ALWAYS, UNLESS_ZERO)
  },
}
