/**
 * Whether the resources that a Cluster reports are up to date with everything known about them. Summaries are written at
 * most once a second while pods come and go: a reader may have to know that a newer one is about to be written.
 */
import { deepEqual } from '../../../base/json.ts'
import type { Cluster } from '../../../kinds/karmada/index.ts'
import type { Summary } from './sums.ts'

export interface ReportedSummaries {
  /** Also true if nothing is known: then nothing newer will be written. */
  isCurrent(cluster: Cluster): boolean
  /** Sets the source of what is known about members. */
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
