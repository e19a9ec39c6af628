/**
 * What a binding's object depends on, as recorded in the annotation of the binding: references by name or by labels, in
 * Karmada's form. Only objects in the binding's own namespace, or cluster-scoped ones, can follow it.
 */
import { isJsonObject } from '../../base/json.ts'
import type { ResourceBinding } from '../../kinds/karmada/index.ts'
import { DEPENDENCIES_ANNOTATION } from '../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type LabelSelectorObject, matchesLabels, selectorFromObject } from '../../kube/selector.ts'
import type { DependentReference } from '../interpreter/interpreter.ts'

/** The annotation: equal references give equal text. */
export const dependenciesText = (references: readonly DependentReference[]): string =>
  JSON.stringify(
    references.map(({ apiVersion, kind, namespace, name, labelSelector }) => ({
      apiVersion,
      kind,
      ...(namespace ? { namespace } : {}),
      ...(name ? { name } : {}),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    })),
  )

/** Anyone may write the annotation: what cannot be parsed is ignored. */
export function dependenciesOf({ metadata }: KubeObject): DependentReference[] {
  const text = metadata.annotations?.[DEPENDENCIES_ANNOTATION]
  if (text === undefined) return []
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return []
  }
  return (Array.isArray(parsed) ? parsed : []).flatMap((entry) => referenceOf(entry) ?? [])
}

function referenceOf(entry: unknown): DependentReference | undefined {
  if (!isJsonObject(entry)) return undefined
  const { apiVersion, kind, namespace, name, labelSelector } = entry
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined
  const base = { apiVersion, kind, ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}) }
  if (typeof name === 'string' && name !== '') return { ...base, name }
  return isJsonObject(labelSelector) ? { ...base, labelSelector: labelSelector as LabelSelectorObject } : undefined
}

/** Whether a binding takes its dependencies along at all. */
export const takesDependencies = ({ metadata, spec }: ResourceBinding): boolean =>
  spec?.propagateDeps === true && metadata.deletionTimestamp === undefined

/** An owner is in the same namespace as what it owns, or cluster-scoped. */
export const isReachable = ({ namespace }: DependentReference, { metadata }: KubeObject): boolean =>
  namespace === undefined || namespace === metadata.namespace

/** Whether the reference is to this object, wherever it is. */
export function means(reference: DependentReference, { apiVersion, kind, metadata }: KubeObject): boolean {
  if (reference.apiVersion !== apiVersion || reference.kind !== kind) return false
  if (reference.name !== undefined) return reference.name === metadata.name
  const selector = selectorFromObject(reference.labelSelector)
  return selector.error === undefined && selector.value !== undefined && matchesLabels(selector.value, metadata.labels)
}
