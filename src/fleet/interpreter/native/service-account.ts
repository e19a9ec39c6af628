/** v1 ServiceAccount: the member adds Secrets of its own, which must not be removed again. */

import { listAt, textAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { KindRules } from '../interpreter.ts'

export const serviceAccountRules: KindRules = {
  retain: (desired, observed) =>
    ['secrets', 'imagePullSecrets'].reduce((object, field) => withObservedNames(object, observed, field), desired),
}

function withObservedNames(desired: KubeObject, observed: KubeObject, field: string): KubeObject {
  const known = new Set(listAt(desired, field).map((entry) => textAt(entry, 'name')))
  const added = listAt(observed, field).filter((entry) => !known.has(textAt(entry, 'name')))
  return added.length === 0 ? desired : { ...desired, [field]: [...listAt(desired, field), ...added] }
}
