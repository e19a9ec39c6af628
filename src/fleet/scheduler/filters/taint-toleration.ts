/**
 * Taints keep new workloads away unless they are tolerated. Existing ones are up to eviction. A temporary toleration that
 * is over counts as none: otherwise eviction and scheduling would alternate for ever.
 */

import { evictionDue, noExecuteTaints } from '../../../kinds/karmada/cluster-taints.ts'
import type { Taint } from '../../../kinds/karmada/index.ts'
import { tolerates } from '../../../kinds/kubernetes/taints.ts'
import type { Filter } from './filter.ts'

export const taintToleration: Filter = {
  name: 'TaintToleration',
  prepare({ placement, current }, _term, nowMs) {
    const tolerations = placement.clusterTolerations ?? []
    return ({ name, taints }) => {
      if (taints.length === 0 || current.has(name)) return undefined
      const taint = taints.find((one) => !tolerations.some((toleration) => tolerates(toleration, one)))
      if (taint !== undefined) return `cluster(s) had untolerated taint {${taintText(taint)}}`
      const driving = noExecuteTaints(taints)
      if (driving.length === 0 || evictionDue(driving, tolerations) > nowMs) return undefined
      const outlived = driving.find((one) => evictionDue([one], tolerations) <= nowMs) ?? driving[0]
      return outlived === undefined ? undefined : `cluster(s) had taint {${taintText(outlived)}}, whose toleration is over`
    }
  },
}

const taintText = ({ key, value = '', effect }: Taint): string =>
  `${key}${value === '' ? '' : `=${value}`}${effect === '' ? '' : `:${effect}`}`
