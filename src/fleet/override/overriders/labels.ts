/** Labels and annotations: added ones are set, and only those that exist are replaced or removed. */
import { setOwn } from '../../../base/json.ts'
import type { LabelAnnotationOverrider } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Override } from './overrider.ts'

export const overrideLabels: Override<LabelAnnotationOverrider> = (object, overrider) => overrideMap(object, 'labels', overrider)
export const overrideAnnotations: Override<LabelAnnotationOverrider> = (object, overrider) => overrideMap(object, 'annotations', overrider)

function overrideMap(object: KubeObject, field: 'labels' | 'annotations', { operator, value }: LabelAnnotationOverrider): KubeObject {
  const old = object.metadata[field] ?? {}
  const meant = Object.entries(value).filter(([key]) => operator === 'add' || Object.hasOwn(old, key))
  if (meant.length === 0) return object
  const removed = new Set(operator === 'remove' ? meant.map(([key]) => key) : [])
  const map: Record<string, string> = {}
  for (const [key, text] of Object.entries(old)) if (!removed.has(key)) setOwn(map, key, text)
  if (operator !== 'remove') for (const [key, text] of meant) setOwn(map, key, text)
  return { ...object, metadata: { ...object.metadata, [field]: map } }
}
