/** A protected object, whatever its kind, cannot be deleted by anyone until the label is removed. */
import { failure } from '../../../kube/status.ts'
import { type Admission, defineAdmission } from '../../admission.ts'
import { DELETION_PROTECTED_ALWAYS, DELETION_PROTECTED_LABEL } from '../well-known.ts'

export const deletionProtectionAdmission: Admission = defineAdmission({
  name: 'ResourceDeletionProtection',
  about: `Refuses to delete an object with the label \`${DELETION_PROTECTED_LABEL}: ${DELETION_PROTECTED_ALWAYS}\`.`,
  resources: [{ group: '*', resource: '*' }],
  operations: ['DELETE'],
  label: { key: DELETION_PROTECTED_LABEL },
  validate({ oldObject }) {
    if (oldObject?.metadata.labels?.[DELETION_PROTECTED_LABEL] === DELETION_PROTECTED_ALWAYS)
      throw failure(403, 'Forbidden', `This resource is protected, please make sure to remove the label: ${DELETION_PROTECTED_LABEL}`)
    return undefined
  },
})
