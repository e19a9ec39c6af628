/** The fields of a spec that data operations share, read in one way; a kind that lacks one has it absent. Pure. */
import type { Operation } from '../../kinds/fluid/operation.ts'
import type { OperationStatus } from '../../kinds/fluid/operation-parts.ts'
import type { Affinity, ResourceRequirements, Toleration } from '../../kinds/kubernetes/types.ts'

export interface CommonSpec {
  policy?: 'Once' | 'Cron' | 'OnEvent'
  schedule?: string
  ttlSecondsAfterFinished?: number
  podMetadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }
  affinity?: Affinity
  tolerations?: Toleration[]
  nodeSelector?: Record<string, string>
  schedulerName?: string
  resources?: ResourceRequirements
}

export const commonSpec = ({ spec }: Operation): CommonSpec => (spec ?? {}) as CommonSpec

export const isCron = (operation: Operation): boolean => commonSpec(operation).policy === 'Cron'

export const statusOf = ({ status }: Operation): Partial<OperationStatus> => status ?? {}
