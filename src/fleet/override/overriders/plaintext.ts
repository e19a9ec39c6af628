/** Any field, by RFC 6902: all operations of a rule at once, so one that cannot be applied undoes them all. */
import { isJsonObject } from '../../../base/json.ts'
import type { PlaintextOverrider } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { applyPatch, DoesNotApply } from '../json-patch.ts'
import type { Override } from './overrider.ts'

export const overridePlaintext: Override<readonly PlaintextOverrider[]> = (object, overriders) => {
  if (overriders.length === 0) return object
  const result = applyPatch(object, overriders)
  if (!isKubeObject(result)) throw new DoesNotApply('what is left has no apiVersion, kind or metadata')
  return result
}

const isKubeObject = (value: unknown): value is KubeObject =>
  isJsonObject(value) && typeof value.apiVersion === 'string' && typeof value.kind === 'string' && isJsonObject(value.metadata)
