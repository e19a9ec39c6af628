/** A parsed term of pod (anti-)affinity: which other pods it is about, and over which node label. */
import type { PodAffinityTerm, WeightedPodAffinityTerm } from '../../../kinds/kubernetes/types.ts'
import { type LabelSelector, type LabelSelectorObject, type Labels, matchesLabels, selectorFromObject } from '../../../kube/selector.ts'

export interface AffinityTerm {
  readonly topologyKey: string
  /** Equal for terms that mean the same: pods created from one template share it. */
  readonly key: string
  readonly namespaces: readonly string[]
  /** Further namespaces by their labels; undefined when only those named count. */
  readonly namespaceSelector: LabelSelector | undefined
  /** Undefined selects nothing. */
  readonly selector: LabelSelector | undefined
}

export interface WeightedTerm {
  readonly term: AffinityTerm
  readonly weight: number
}

export type NamespaceLabels = (namespace: string) => Labels

/** What a term looks at in another pod. */
export interface LabelledPod {
  readonly namespace: string
  readonly labels: Labels
}

/** Unreadable selectors select nothing. */
export function readSelector(object: unknown): LabelSelector | undefined {
  const read = selectorFromObject(object as LabelSelectorObject | undefined)
  return read.error === undefined ? read.value : undefined
}

function readTerm(namespace: string, term: PodAffinityTerm): AffinityTerm {
  const { topologyKey = '', labelSelector, namespaces, namespaceSelector } = term
  // Neither namespaces nor a namespace selector: the pod's own namespace.
  const named = (namespaces ?? []).length === 0 && namespaceSelector === undefined ? [namespace] : (namespaces ?? [])
  return {
    topologyKey,
    key: JSON.stringify([topologyKey, named, namespaceSelector ?? null, labelSelector ?? null]),
    namespaces: named,
    namespaceSelector: readSelector(namespaceSelector),
    selector: readSelector(labelSelector),
  }
}

export const readTerms = (namespace: string, terms: readonly PodAffinityTerm[] | undefined): AffinityTerm[] =>
  (terms ?? []).map((term) => readTerm(namespace, term))

export const readWeightedTerms = (namespace: string, terms: readonly WeightedPodAffinityTerm[] | undefined): WeightedTerm[] =>
  (terms ?? []).map(({ podAffinityTerm, weight }) => ({ term: readTerm(namespace, podAffinityTerm ?? {}), weight: weight ?? 0 }))

export function matchesTerm(term: AffinityTerm, pod: LabelledPod, labelsOf: NamespaceLabels): boolean {
  if (term.selector === undefined) return false
  const isThere =
    term.namespaces.includes(pod.namespace) ||
    (term.namespaceSelector !== undefined && matchesLabels(term.namespaceSelector, labelsOf(pod.namespace) ?? {}))
  return isThere && matchesLabels(term.selector, pod.labels)
}

/** An empty list of terms matches nothing. */
export const matchesAllTerms = (terms: readonly AffinityTerm[], pod: LabelledPod, labelsOf: NamespaceLabels): boolean =>
  terms.length > 0 && terms.every((term) => matchesTerm(term, pod, labelsOf))
