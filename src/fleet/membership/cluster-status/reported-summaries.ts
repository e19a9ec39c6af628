/**
 * Whether what a Cluster says of its resources is all that is known of them at this moment. Summaries are written at most
 * once a second while pods come and go: who goes by one may have to know that a newer one is about to come.
 */
import { deepEqual } from '../../../base/json.ts'
import type { Cluster } from '../../../kinds/karmada/index.ts'
import type { Summary } from './sums.ts'

export interface ReportedSummaries {
  /** True also where nothing is known: then nothing newer will come. */
  isCurrent(cluster: Cluster): boolean
  /** Who knows what members have. */
  knownBy(summaryOf: (cluster: string) => Summary | undefined): void
}

export function createReportedSummaries(): ReportedSummaries {
  let summaryOf: (cluster: string) => Summary | undefined = () => undefined
  return {
    isCurrent({ metadata, status }) {
      const known = summaryOf(metadata.name ?? '')
      return known === undefined || deepEqual(known.resourceSummary, status?.resourceSummary)
    },
    knownBy(who) {
      summaryOf = who
    },
  }
}
