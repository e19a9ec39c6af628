/**
 * Pods on nodes by the value of a label, for the few labels by which sets of pods are looked for. A label is indexed when it is first
 * asked for, which looks at every pod once; from then on a pod costs an entry for each of these labels that it has.
 */
import { objectKey } from '../../../kube/object-reference.ts'
import type { PodInfo } from './pod-info.ts'

export interface PlacedPod {
  info: PodInfo
  node: string
}

/** A selector can name any label, so those that were asked for longest ago are forgotten. */
const MOST_LABELS = 32

type ByValue = Map<string, Map<string, PlacedPod>>

export class LabelIndex {
  readonly #labels = new Map<string, ByValue>()
  readonly #all: () => Iterable<PlacedPod>

  constructor(all: () => Iterable<PlacedPod>) {
    this.#all = all
  }

  find(namespace: string, label: string, value: string): Iterable<PlacedPod> {
    const known = this.#labels.get(label)
    this.#labels.delete(label)
    const byValue = known ?? this.#indexed(label)
    this.#labels.set(label, byValue)
    for (const oldest of this.#labels.keys()) {
      if (this.#labels.size <= MOST_LABELS) break
      this.#labels.delete(oldest)
    }
    return byValue.get(objectKey(namespace, value))?.values() ?? []
  }

  add(placed: PlacedPod): void {
    for (const [label, byValue] of this.#labels) put(byValue, label, placed)
  }

  remove({ info }: PlacedPod): void {
    for (const [label, byValue] of this.#labels) {
      const place = placeOf(info, label)
      const there = place === undefined ? undefined : byValue.get(place)
      there?.delete(info.key)
      if (place !== undefined && there?.size === 0) byValue.delete(place)
    }
  }

  #indexed(label: string): ByValue {
    const byValue: ByValue = new Map()
    for (const placed of this.#all()) put(byValue, label, placed)
    return byValue
  }
}

function put(byValue: ByValue, label: string, placed: PlacedPod): void {
  const place = placeOf(placed.info, label)
  if (place === undefined) return
  const there = byValue.get(place)
  if (there === undefined) byValue.set(place, new Map([[placed.info.key, placed]]))
  else there.set(placed.info.key, placed)
}

const placeOf = ({ namespace, labels = {} }: PodInfo, label: string): string | undefined =>
  Object.hasOwn(labels, label) ? objectKey(namespace, labels[label]) : undefined
