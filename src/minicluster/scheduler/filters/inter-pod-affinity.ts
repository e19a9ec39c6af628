/** InterPodAffinity: near the pods a pod requires, away from those it excludes, and away from pods that exclude it. */
import type { Snapshot } from '../snapshot.ts'
import { type AffinityTerm, matchesAllTerms, matchesTerm, type NamespaceLabels } from '../state/affinity-term.ts'
import type { NodeState } from '../state/node-state.ts'
import type { PodInfo } from '../state/pod-info.ts'
import type { PodSetQuery } from '../state/pod-sets.ts'
import { type Change, type Filter, type Prepared, rejection } from './filter.ts'

const NAME = 'InterPodAffinity'
const NOT_NEAR = rejection(NAME, "node(s) didn't match pod affinity rules", true)
const TOO_NEAR = rejection(NAME, "node(s) didn't match pod anti-affinity rules", false)
const UNWANTED = rejection(NAME, "node(s) didn't satisfy existing pods anti-affinity rules", false)

export const interPodAffinity: Filter = {
  name: NAME,
  prepare(pod, snapshot) {
    const counts = countAll(pod, snapshot)
    const { affinity, antiAffinity } = pod.terms
    return counts.existing.size === 0 && affinity.length === 0 && antiAffinity.length === 0 ? undefined : prepared(pod, counts, snapshot)
  },
  listens: ['node', 'pod-added', 'pod-removed', 'pod-changed', 'namespace'],
  isHelpedBy(change, pod, { objects }) {
    if (change.kind === 'node') return change.now !== undefined
    if (change.kind === 'namespace') return true
    return change.kind === 'pod' && mayHelp(change, pod, objects.namespaceLabels)
  },
}

/** How many pods match, by topology key and value. */
class Domains {
  readonly #counts = new Map<string, Map<string, number>>()

  get size(): number {
    return this.#counts.size
  }

  add(key: string, node: NodeState, count: number): void {
    const value = node.label(key)
    if (value === undefined || count === 0) return
    const values = this.#counts.get(key) ?? new Map<string, number>()
    const sum = (values.get(value) ?? 0) + count
    if (sum === 0) values.delete(value)
    else values.set(value, sum)
    if (values.size === 0) this.#counts.delete(key)
    else this.#counts.set(key, values)
  }

  hasAt(key: string, node: NodeState): boolean {
    const value = node.label(key)
    return value !== undefined && (this.#counts.get(key)?.get(value) ?? 0) > 0
  }

  hasAnyAt(node: NodeState): boolean {
    for (const key of this.#counts.keys()) if (this.hasAt(key, node)) return true
    return false
  }
}

interface Counts {
  /** Pods whose anti-affinity excludes this pod. */
  existing: Domains
  near: Domains
  far: Domains
}

function countAll(pod: PodInfo, { cluster, objects }: Snapshot): Counts {
  const counts: Counts = { existing: new Domains(), near: new Domains(), far: new Domains() }
  const labelsOf = objects.namespaceLabels
  const addAll = (to: Domains, key: string, onNodes: ReadonlyMap<string, number>): void => {
    for (const [name, count] of onNodes) {
      const node = cluster.node(name)
      if (node !== undefined) to.add(key, node, count)
    }
  }
  for (const { term, onNodes } of cluster.antiTerms)
    if (matchesTerm(term, pod, labelsOf)) addAll(counts.existing, term.topologyKey, onNodes)
  const { affinity, antiAffinity } = pod.terms
  if (affinity.length > 0) {
    const onNodes = cluster.countsOf(termsQuery(affinity, labelsOf))
    for (const { topologyKey } of affinity) addAll(counts.near, topologyKey, onNodes)
  }
  for (const term of antiAffinity) addAll(counts.far, term.topologyKey, cluster.countsOf(termsQuery([term], labelsOf)))
  return counts
}

/** The pods that match all of these terms. */
export function termsQuery(terms: readonly AffinityTerm[], labelsOf: NamespaceLabels): PodSetQuery {
  const [first] = terms
  const namespaces = new Set(terms.flatMap((term) => (term.namespaceSelector === undefined ? term.namespaces : ['*'])))
  const [only] = namespaces
  return {
    key: `terms ${terms.map(({ key }) => key).join(' ')}`,
    namespace: namespaces.size === 1 && only !== '*' ? only : undefined,
    selector: first?.selector,
    asksNamespaces: terms.some(({ namespaceSelector }) => namespaceSelector !== undefined),
    holds: (pod) => matchesAllTerms(terms, pod, labelsOf),
  }
}

function prepared(pod: PodInfo, { existing, near, far }: Counts, { objects }: Snapshot): Prepared {
  const { affinity, antiAffinity } = pod.terms
  const labelsOf = objects.namespaceLabels
  const isOwnKind = matchesAllTerms(affinity, pod, labelsOf)
  const isNear = (node: NodeState): boolean => {
    if (affinity.some(({ topologyKey }) => node.label(topologyKey) === undefined)) return false
    // The first of a group of pods that require each other has none to be near.
    return affinity.every(({ topologyKey }) => near.hasAt(topologyKey, node)) || (near.size === 0 && isOwnKind)
  }
  return {
    isWide: true,
    check(node) {
      if (affinity.length > 0 && !isNear(node)) return NOT_NEAR
      if (far.size > 0 && antiAffinity.some(({ topologyKey }) => far.hasAt(topologyKey, node))) return TOO_NEAR
      return existing.size > 0 && existing.hasAnyAt(node) ? UNWANTED : undefined
    },
    simulate(other, node, sign) {
      for (const term of other.terms.antiAffinity) if (matchesTerm(term, pod, labelsOf)) existing.add(term.topologyKey, node, sign)
      if (matchesAllTerms(affinity, other, labelsOf)) for (const { topologyKey } of affinity) near.add(topologyKey, node, sign)
      for (const term of antiAffinity) if (matchesTerm(term, other, labelsOf)) far.add(term.topologyKey, node, sign)
    },
  }
}

/** A required pod came, or an excluded one left. */
function mayHelp({ old, now }: Extract<Change, { kind: 'pod' }>, pod: PodInfo, labelsOf: NamespaceLabels): boolean {
  const { affinity, antiAffinity } = pod.terms
  const isWanted = (one: PodInfo | undefined): boolean => one !== undefined && matchesAllTerms(affinity, one, labelsOf)
  const isConflicting = (one: PodInfo | undefined): boolean =>
    one !== undefined &&
    (antiAffinity.some((term) => matchesTerm(term, one, labelsOf)) ||
      one.terms.antiAffinity.some((term) => matchesTerm(term, pod, labelsOf)))
  return (!isWanted(old) && isWanted(now)) || (isConflicting(old) && !isConflicting(now))
}
