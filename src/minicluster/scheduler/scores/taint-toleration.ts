/** TaintToleration: the fewer PreferNoSchedule taints that the pod does not tolerate, the better. */
import { isTolerated } from '../../../kinds/kubernetes/taints.ts'
import { normaliseByHighest, type Score } from './score.ts'

const SOFT = 'PreferNoSchedule'

export const taintTolerationScore: Score = {
  name: 'TaintToleration',
  weight: 3,
  prepare({ tolerations }) {
    const soft = tolerations.filter(({ effect = '' }) => effect === '' || effect === SOFT)
    return {
      of: ({ taints }) => (taints.length === 0 ? 0 : taints.filter((taint) => taint.effect === SOFT && !isTolerated(taint, soft)).length),
      normalise: (scores) => normaliseByHighest(scores, true),
    }
  },
}
