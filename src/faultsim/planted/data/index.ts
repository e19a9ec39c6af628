/** Every bug that is planted into the controllers of datasets. One file and one line each. */
import { appendedList } from './appended-list.ts'
import { configNotRefreshed } from './config-not-refreshed.ts'
import { foreignReadersForgotten } from './foreign-readers-forgotten.ts'
import { labelRemovedEarly } from './label-removed-early.ts'
import type { PlantedInMember } from './planted.ts'
import { staleReport } from './stale-report.ts'
import { victimFromStaleReport } from './victim-from-stale-report.ts'
import { volumeWithoutClaim } from './volume-without-claim.ts'

export const PLANTED_IN_DATA: readonly PlantedInMember[] = [
  labelRemovedEarly,
  staleReport,
  volumeWithoutClaim,
  appendedList,
  configNotRefreshed,
  foreignReadersForgotten,
  victimFromStaleReport,
]
