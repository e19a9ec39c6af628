/** Admission of DataSourceClaim: refuses claims that are of no form or of both, incomplete, or can never be met. */
import { type FieldError, keyed, notSupported } from '../../../kube/field-error.ts'
import { type Admission, type AdmissionRequest, defineAdmission } from '../../admission.ts'
import type { DataSourceClaim, DataSourceClaimSpec } from '../index.ts'
import { DATA_DEPENDENCY_GROUP, ON_LOCALITY_CHANGE } from '../well-known.ts'
import { dataSourceClaimErrors } from './data-source-claim-rules.ts'
import { newAnnotation, withNewSpec } from './judged.ts'

const LOCALITY_CHANGES = ['Ignore', 'Move']

export const dataSourceClaimAdmission: Admission = defineAdmission({
  name: 'DataSourceClaim',
  about: 'Refuses claims that have both forms or neither, are incomplete, or have selectors that are empty or cannot be read.',
  resources: [{ group: DATA_DEPENDENCY_GROUP, resource: 'datasourceclaims' }],
  operations: ['CREATE', 'UPDATE'],
  validate(request, { warn }) {
    const claim = withNewSpec(request) as DataSourceClaim | undefined
    const errors = claim === undefined ? [] : dataSourceClaimErrors(claim.spec, request.namespace)
    if (claim !== undefined && errors.length === 0 && ignoresAttributes(claim.spec))
      warn('spec.attributesSelector has no effect: spec.dataSourceName already names the DataSource')
    return [...errors, ...localityChangeErrors(request)]
  },
})

const ignoresAttributes = ({ attributesSelector, dataSourceName = '' }: DataSourceClaimSpec): boolean =>
  attributesSelector !== undefined && dataSourceName !== ''

function localityChangeErrors(request: AdmissionRequest): FieldError[] {
  const value = newAnnotation(request, ON_LOCALITY_CHANGE)
  if (value === undefined || LOCALITY_CHANGES.includes(value)) return []
  return [notSupported(keyed('metadata.annotations', ON_LOCALITY_CHANGE), value.slice(0, 253), LOCALITY_CHANGES)]
}
