/**
 * How many pods of a set are on which node, for the sets that are asked for: the selector of a spread constraint or a
 * term. A set is counted once, when first asked for, and then updated incrementally; a pod that comes or goes is
 * checked only against the sets that may contain it. Costs a map of node names per set; the least used are forgotten.
 */
import { type LabelSelector, requiredLabel } from '../../../kube/selector.ts'
import type { PlacedPod } from './label-index.ts'
import type { PodInfo } from './pod-info.ts'

export interface PodSetQuery {
  /** Equal for equal sets. */
  readonly key: string
  /** The namespace of its pods; undefined when any. */
  readonly namespace: string | undefined
  /** A selector that all of them match, by which the set is indexed; undefined when there is none. */
  readonly selector: LabelSelector | undefined
  /** Whether it also depends on the labels of namespaces. */
  readonly asksNamespaces: boolean
  holds(pod: PodInfo): boolean
}

interface PodSet {
  readonly query: PodSetQuery
  readonly place: string
  readonly counts: Map<string, number>
}

/** Where all pods of a set certainly are; without `label`, anywhere in the namespace, and without that anywhere. */
export interface Place {
  readonly namespace: string | undefined
  readonly label: { readonly key: string; readonly value: string } | undefined
}

export type PodsSource = (place: Place) => Iterable<PlacedPod>

const MAX_SETS = 2048

export class PodSets {
  readonly #sets = new Map<string, PodSet>()
  readonly #places = new Map<string, Set<PodSet>>()
  readonly #pods: PodsSource

  constructor(pods: PodsSource) {
    this.#pods = pods
  }

  /** Pods of the set by name of node; nodes without any are absent. */
  counts(query: PodSetQuery): ReadonlyMap<string, number> {
    const known = this.#sets.get(query.key)
    if (known !== undefined) {
      this.#sets.delete(query.key)
      this.#sets.set(query.key, known)
      return known.counts
    }
    const place = placeOf(query)
    const set: PodSet = { query, place: textOf(place), counts: new Map() }
    for (const { info, node } of this.#pods(place)) if (query.holds(info)) count(set, node, 1)
    this.#sets.set(query.key, set)
    const there = this.#places.get(set.place)
    if (there === undefined) this.#places.set(set.place, new Set([set]))
    else there.add(set)
    for (const oldest of this.#sets.values()) {
      if (this.#sets.size <= MAX_SETS) break
      this.#forget(oldest)
    }
    return set.counts
  }

  change(info: PodInfo, node: string, sign: 1 | -1): void {
    if (this.#sets.size === 0) return
    const look = (place: string): void => {
      for (const set of this.#places.get(place) ?? []) if (set.query.holds(info)) count(set, node, sign)
    }
    look('')
    look(info.namespace)
    for (const [key, value] of Object.entries(info.labels ?? {})) look(textOf({ namespace: info.namespace, label: { key, value } }))
  }

  /** The labels of some namespace changed: sets that depend on them are recounted when next asked for. */
  namespacesChanged(): void {
    for (const set of [...this.#sets.values()]) if (set.query.asksNamespaces) this.#forget(set)
  }

  #forget(set: PodSet): void {
    this.#sets.delete(set.query.key)
    const there = this.#places.get(set.place)
    there?.delete(set)
    if (there?.size === 0) this.#places.delete(set.place)
  }
}

function count(set: PodSet, node: string, by: 1 | -1): void {
  const sum = (set.counts.get(node) ?? 0) + by
  if (sum === 0) set.counts.delete(node)
  else set.counts.set(node, sum)
}

/** A label that all its pods must have, the most selective one: long values are hashes. */
function placeOf({ namespace, selector = [] }: PodSetQuery): Place {
  let label: Place['label']
  for (const { key } of namespace === undefined ? [] : selector) {
    const value = requiredLabel(selector, key)
    if (value !== undefined && value.length > (label?.value.length ?? -1)) label = { key, value }
  }
  return { namespace, label }
}

const textOf = ({ namespace = '', label }: Place): string => (label === undefined ? namespace : `${namespace} ${label.key}=${label.value}`)
