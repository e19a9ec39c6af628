/** A filter says of a cluster why a binding cannot go there. It looks at the binding once per decision, then at cluster after cluster. */
import type { ClusterInfo } from '../cluster-info.ts'
import type { Demand, Term } from '../demand.ts'

/** The reason why not, in Karmada's words; undefined when the cluster will do. */
export type Check = (info: ClusterInfo) => string | undefined

export interface Filter {
  readonly name: string
  /** Undefined when it has nothing to say about this binding. */
  prepare(demand: Demand, term: Term, nowMs: number): Check | undefined
}
