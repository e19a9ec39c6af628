/** Every bug that is planted into the controllers of datasets. One file and one line each. */
import { labelRemovedEarly } from './label-removed-early.ts'
import type { PlantedInMember } from './planted.ts'
import { staleReport } from './stale-report.ts'
import { volumeWithoutClaim } from './volume-without-claim.ts'

export const PLANTED_IN_DATA: readonly PlantedInMember[] = [labelRemovedEarly, staleReport, volumeWithoutClaim]
