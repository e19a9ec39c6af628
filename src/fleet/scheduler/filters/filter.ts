/**
 * A filter says why a binding cannot go to a cluster. It is prepared for the binding once per decision, then checks cluster
 * after cluster.
 */
import type { ClusterInfo } from '../cluster-info.ts'
import type { Demand, Term } from '../demand.ts'

/** The reason for a rejection, in Karmada's words; undefined when the cluster fits. */
export type Check = (info: ClusterInfo) => string | undefined

export interface Filter {
  readonly name: string
  /** Undefined when the filter does not apply to this binding. */
  prepare(demand: Demand, term: Term, nowMs: number): Check | undefined
}
