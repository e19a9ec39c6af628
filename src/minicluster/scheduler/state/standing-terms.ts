/**
 * The affinity terms of pods on nodes, each once with how many of its pods are on which node: pods of one
 * template share their terms, so there are as many as there are workloads, not pods.
 */
import type { AffinityTerm } from './affinity-term.ts'

export interface StandingTerm {
  readonly term: AffinityTerm
  readonly weight: number
  /** How many pods with this term are on a node. */
  readonly onNodes: Map<string, number>
}

export class StandingTerms {
  readonly #terms = new Map<string, StandingTerm>()

  change(term: AffinityTerm, weight: number, { node, sign }: { node: string; sign: 1 | -1 }): void {
    const key = `${weight} ${term.key}`
    const known = this.#terms.get(key) ?? { term, weight, onNodes: new Map<string, number>() }
    const sum = (known.onNodes.get(node) ?? 0) + sign
    if (sum > 0) known.onNodes.set(node, sum)
    else known.onNodes.delete(node)
    if (known.onNodes.size > 0) this.#terms.set(key, known)
    else this.#terms.delete(key)
  }

  *[Symbol.iterator](): Iterator<StandingTerm> {
    yield* this.#terms.values()
  }
}
