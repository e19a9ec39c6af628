/** How many pods of a set there are, by what they have reached and by revision: the numbers of its status. */
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { revisionOf } from './identity.ts'

export interface CountInput {
  pods: readonly Pod[]
  isReady(pod: Pod): boolean
  /** Asked only of those that are ready. */
  isAvailable(pod: Pod): boolean
  /** Names of revisions. */
  currentRevision: string
  updateRevision: string
  /** Pods that the same plan takes away from the current revision: they no longer count as current. */
  leaving: number
}

export interface Counts {
  replicas: number
  readyReplicas: number
  availableReplicas: number
  currentReplicas: number
  updatedReplicas: number
}

export function countReplicas(input: CountInput): Counts {
  const { pods, currentRevision, updateRevision } = input
  const ready = pods.filter(input.isReady)
  const staying = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined)
  const of = (revision: string): number => staying.filter((pod) => revisionOf(pod) === revision).length
  return {
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter(input.isAvailable).length,
    currentReplicas: of(currentRevision) - input.leaving,
    updatedReplicas: of(updateRevision),
  }
}

/** A rolling update is complete when every replica is of the new revision and ready. */
export const isRolledOut = ({ replicas, readyReplicas, updatedReplicas }: Counts, wanted: number): boolean =>
  updatedReplicas === wanted && readyReplicas === wanted && replicas === wanted
