/** InterPodAffinity: near the pods a pod prefers and those that prefer it, away from those it or they would rather avoid. */
import { termsQuery } from '../filters/inter-pod-affinity.ts'
import type { Snapshot } from '../snapshot.ts'
import { matchesTerm } from '../state/affinity-term.ts'
import type { PodInfo } from '../state/pod-info.ts'
import { MAX_SCORE, type Score } from './score.ts'

type Sums = Map<string, Map<string, number>>

export const interPodAffinityScore: Score = {
  name: 'InterPodAffinity',
  weight: 2,
  prepare(pod, snapshot) {
    const sums = sumUp(pod, snapshot)
    if (sums.size === 0) return undefined
    return {
      of(node) {
        let score = 0
        for (const [key, values] of sums) {
          const value = node.label(key)
          if (value !== undefined) score += values.get(value) ?? 0
        }
        return score
      },
      normalise: normaliseBetweenEnds,
    }
  },
}

/** The worst becomes 0, the best 100; if all are equal, all become 0. */
function normaliseBetweenEnds(scores: number[]): void {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const score of scores) {
    least = Math.min(least, score)
    most = Math.max(most, score)
  }
  for (const [i, score] of scores.entries()) scores[i] = most > least ? Math.trunc(MAX_SCORE * ((score - least) / (most - least))) : 0
}

/** Weights by topology key and value: each pod on a node of the domain counts once for each term that connects the two. */
function sumUp(pod: PodInfo, { cluster, objects }: Snapshot): Sums {
  const sums: Sums = new Map()
  const labelsOf = objects.namespaceLabels
  const add = (key: string, onNodes: ReadonlyMap<string, number>, weight: number): void => {
    for (const [name, count] of onNodes) {
      const value = cluster.node(name)?.label(key)
      if (value === undefined) continue
      const values = sums.get(key) ?? new Map<string, number>()
      values.set(value, (values.get(value) ?? 0) + weight * count)
      sums.set(key, values)
    }
  }
  const { preferred, preferredAnti } = pod.terms
  for (const { term, weight } of preferred) add(term.topologyKey, cluster.countsOf(termsQuery([term], labelsOf)), weight)
  for (const { term, weight } of preferredAnti) add(term.topologyKey, cluster.countsOf(termsQuery([term], labelsOf)), -weight)
  for (const { term, weight, onNodes } of cluster.scoredTerms) if (matchesTerm(term, pod, labelsOf)) add(term.topologyKey, onNodes, weight)
  return sums
}
