/** The admission of a hub for data dependencies. */
import type { Admission } from '../../admission.ts'
import { dataAnnotationsAdmission } from './data-annotations.ts'
import { dataSourceAdmission } from './data-source.ts'
import { dataSourceClaimAdmission } from './data-source-claim.ts'

export const volcanoAdmission = (): readonly Admission[] => [dataSourceAdmission, dataSourceClaimAdmission, dataAnnotationsAdmission]
