/**
 * The two questions every workload controller asks of its caches, answered without scans: what does this owner control
 * (and which orphans are there), and which owners select this object.
 */

import type { LabelSelector as SelectorObject } from '../../../kinds/kubernetes/types.ts'
import { type KubeObject, parseGroupVersion } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type LabelSelector, type LabelSelectorObject, matchesLabels, selectorFromObject } from '../../../kube/selector.ts'
import { type Index, indexOf, type Reader } from '../../controller.ts'
import { controllerOf } from './ownership.ts'

const CONTROLLER = 'controller'
const SELECTOR = 'selector'

/** Declare it in `indexes` to use `controlledBy` and `orphansIn`. */
export const byController = <T extends KubeObject>(resource: Resource<T>): Index =>
  indexOf(resource, CONTROLLER, (object) => [controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace ?? '')])

/** No uid contains a slash. */
const orphansOf = (namespace: string): string => `orphans/${namespace}`

export const controlledBy = <T extends KubeObject>(read: Reader, resource: Resource<T>, uid: string | undefined): T[] =>
  uid === undefined ? [] : read.byIndex(resource, CONTROLLER, uid)

/** Objects of a namespace without a controller. */
export const orphansIn = <T extends KubeObject>(read: Reader, resource: Resource<T>, namespace: string): T[] =>
  read.byIndex(resource, CONTROLLER, orphansOf(namespace))

/** The parsed selector of an API object; undefined, which selects nothing, when it is absent or malformed. */
export function readSelector(object: SelectorObject | undefined): LabelSelector | undefined {
  return selectorFromObject(object as LabelSelectorObject | undefined).value
}

export interface Selecting<T extends KubeObject> {
  resource: Resource<T>
  selectorOf(object: T): LabelSelector | undefined
}

/** Declare it in `indexes` to use `selecting`: objects by a label that anything they select must have. */
export const bySelector = <T extends KubeObject>({ resource, selectorOf }: Selecting<T>): Index =>
  indexOf(resource, SELECTOR, (object) => anchorsOf(object.metadata.namespace ?? '', selectorOf(object)))

/** Those of the same namespace whose selector matches the labels of `object`. An empty selector matches all. */
export function selecting<T extends KubeObject>(read: Reader, { resource, selectorOf }: Selecting<T>, object: KubeObject): T[] {
  const { namespace = '', labels = {} } = object.metadata
  const anchors = [namespace, ...Object.entries(labels).flatMap(([key, value]) => [`${namespace} ${key}`, `${namespace} ${key}=${value}`])]
  return anchors
    .flatMap((anchor) => read.byIndex(resource, SELECTOR, anchor))
    .filter((one) => {
      const selector = selectorOf(one)
      return selector !== undefined && matchesLabels(selector, labels)
    })
}

/** One requirement is enough for the index; the most selective one is used. */
function anchorsOf(namespace: string, selector: LabelSelector | undefined): string[] {
  if (selector === undefined) return []
  const exact = selector.find(({ operator }) => operator === '=' || operator === '==' || operator === 'in')
  if (exact !== undefined) return [...new Set(exact.values)].map((value) => `${namespace} ${exact.key}=${value}`)
  const present = selector.find(({ operator }) => operator === 'exists')
  return [present === undefined ? namespace : `${namespace} ${present.key}`]
}

/**
 * Which owners a controlled object concerns: its controller, if that is of their kind; if it has none, those that select
 * it, for they may adopt it.
 */
export function controllersOf<T extends KubeObject>(read: Reader, owners: Selecting<T>, object: KubeObject): ObjectRef[] {
  const { namespace = '' } = object.metadata
  const { kind, group } = owners.resource
  const controller = controllerOf(object)
  if (controller === undefined) return selecting(read, owners, object).map((owner) => ({ namespace, name: owner.metadata.name ?? '' }))
  const isOurs = controller.kind === kind && parseGroupVersion(controller.apiVersion).group === group
  return isOurs ? [{ namespace, name: controller.name }] : []
}
