/** Admission of AdvancedStatefulSet. */
import { type Admission, defineAdmission } from '../../admission.ts'
import { isBeingDeleted } from '../../karmada/admission/metadata.ts'
import type { AdvancedStatefulSet } from '../index.ts'
import { ADVANCED_STATEFUL_SETS } from '../resources.ts'
import { advancedStatefulSetErrors, immutableErrors } from './advanced-stateful-set-rules.ts'
import { introducedErrors } from './introduced.ts'

export const advancedStatefulSetAdmission: Admission = defineAdmission({
  name: 'AdvancedStatefulSet',
  about: 'Refuses what a StatefulSet would be refused for, reserved ordinals that cannot be read, and changes of what cannot change.',
  resources: [{ group: ADVANCED_STATEFUL_SETS.group, resource: ADVANCED_STATEFUL_SETS.plural }],
  operations: ['CREATE', 'UPDATE'],
  validate(request) {
    const { object, oldObject } = request as { object?: AdvancedStatefulSet; oldObject?: AdvancedStatefulSet }
    const isChanged = object !== undefined && oldObject !== undefined && !isBeingDeleted(object)
    return [
      ...(isChanged ? immutableErrors(object.spec, oldObject.spec) : []),
      ...introducedErrors<AdvancedStatefulSet>(request, ({ spec }) => advancedStatefulSetErrors(spec)),
    ]
  },
})
