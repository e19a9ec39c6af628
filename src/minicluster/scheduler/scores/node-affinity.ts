/** NodeAffinity: the sum of the weights of the preferred terms that a node satisfies. */
import { termMatcher } from '../state/node-selector.ts'
import { normaliseByHighest, type Score } from './score.ts'

export const nodeAffinityScore: Score = {
  name: 'NodeAffinity',
  weight: 2,
  prepare({ pod }) {
    const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution
    if (preferred === undefined) return undefined
    const terms = preferred.map(({ preference, weight }) => ({ matches: termMatcher(preference), weight: weight ?? 0 }))
    return {
      of: (node) => terms.reduce((sum, { matches, weight }) => (weight !== 0 && matches(node) ? sum + weight : sum), 0),
      normalise: (scores) => normaliseByHighest(scores, false),
    }
  },
}
