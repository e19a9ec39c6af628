/**
 * How well the resource selectors of a policy match an object. A name is more specific than labels, labels more than the kind
 * alone; it decides between policies of equal priority. An invalid selector matches nothing.
 */

import type { KubeObject } from '../../kube/meta.ts'
import { type LabelSelector, matchesLabels, selectorFromObject } from '../../kube/selector.ts'
import type { ResourceSelector } from './index.ts'

/** 0: no match. 1: by kind (and namespace) alone. 2: by labels. 3: by name. */
export type ImplicitPriority = 0 | 1 | 2 | 3

type Traits = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>

/** The best of all selectors; without selectors nothing matches. */
export const implicitPriorityOf = (selectors: readonly ResourceSelector[], object: Traits): ImplicitPriority =>
  resourceMatcher(selectors)(object)

/** Compiled once, to match many objects. */
export function resourceMatcher(selectors: readonly ResourceSelector[]): (object: Traits) => ImplicitPriority {
  const compiled = selectors.map((selector) => ({ selector, labels: labelsOf(selector) }))
  return (object) => {
    let best: ImplicitPriority = 0
    for (const { selector, labels } of compiled) {
      const priority = priorityOf(selector, labels, object)
      if (priority > best) best = priority
    }
    return best
  }
}

/** Undefined: labels do not matter. `unreadable`: they can never match. */
function labelsOf({ name, labelSelector }: ResourceSelector): LabelSelector | 'unreadable' | undefined {
  if (isSet(name)) return undefined
  const selector = selectorFromObject(labelSelector)
  return selector.error === undefined ? selector.value : 'unreadable'
}

const isSet = (text: string | undefined): text is string => text !== undefined && text !== ''

function priorityOf(selector: ResourceSelector, labels: LabelSelector | 'unreadable' | undefined, object: Traits): ImplicitPriority {
  const { apiVersion, kind, metadata } = object
  if (selector.apiVersion !== apiVersion || selector.kind !== kind) return 0
  if (isSet(selector.namespace) && selector.namespace !== metadata.namespace) return 0
  if (isSet(selector.name)) return selector.name === metadata.name ? 3 : 0
  if (labels === undefined) return 1
  return labels !== 'unreadable' && matchesLabels(labels, metadata.labels) ? 2 : 0
}
