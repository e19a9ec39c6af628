/** Selectors of a policy in a namespace reach no further than that namespace. */
import { child, type FieldError, index, invalid } from '../../../kube/field-error.ts'
import { defaultString, writableObjects } from '../../kubernetes/rules/fields.ts'
import type { ResourceSelector } from '../resource-selector.ts'

/** `namespace` is empty for policies without one: their selectors may leave it open. */
export function fillNamespaces(spec: unknown, namespace: string): void {
  if (namespace === '') return
  for (const selector of writableObjects(spec, 'resourceSelectors')) defaultString(selector, 'namespace', namespace)
}

export function selectorErrors(path: string, selectors: readonly ResourceSelector[] | undefined, namespace: string): FieldError[] {
  if (namespace === '') return []
  return (selectors ?? []).flatMap((selector, i) =>
    (selector.namespace ?? '') === namespace
      ? []
      : [
          invalid(
            child(index(path, i), 'namespace'),
            selector.namespace ?? '',
            'namespace of resource selector must be the same as the namespace of the policy',
          ),
        ],
  )
}
