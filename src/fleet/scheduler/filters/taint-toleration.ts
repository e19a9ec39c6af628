/** Taints keep new work away unless they are tolerated. Who is there already is the business of eviction. */
import type { Taint } from '../../../kinds/karmada/index.ts'
import { tolerates } from '../../cluster-taints.ts'
import type { Filter } from './filter.ts'

export const taintToleration: Filter = {
  name: 'TaintToleration',
  prepare({ placement, current }) {
    const tolerations = placement.clusterTolerations ?? []
    return ({ name, taints }) => {
      if (taints.length === 0 || current.has(name)) return undefined
      const taint = taints.find((one) => !tolerations.some((toleration) => tolerates(toleration, one)))
      return taint === undefined ? undefined : `cluster(s) had untolerated taint {${taintText(taint)}}`
    }
  },
}

const taintText = ({ key, value = '', effect }: Taint): string =>
  `${key}${value === '' ? '' : `=${value}`}${effect === '' ? '' : `:${effect}`}`
