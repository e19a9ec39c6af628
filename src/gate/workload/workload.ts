/**
 * What the gate must know about a kind of workload: how a copy in a member is doing, which of its runs succeeded last, and
 * what queues ask of it. Kinds are read from what members report through the interpreter, never from the template's status,
 * which is a summary for people. Reports are anything a member sends: every function here takes any JSON and never throws.
 */
import type { ReadonlyAmounts } from '../../kube/amounts.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Needs } from '../../runtime/needs.ts'

/** `unknown`: it has not reported anything yet. */
export type MemberState = 'unknown' | 'running' | 'succeeded' | 'failed'

export interface WorkloadKind {
  /** With `kind`: `batch` and `Job`, in every version. */
  group: string
  kind: string
  /** It never succeeds, because it has no end: a Deployment, a RayCluster. Each Job of a CronJob has one. */
  isEndless: boolean
  /** How one member's copy is doing, by the status that it reported. */
  stateOf(status: unknown): MemberState
  /** Identifies the latest run that succeeded in a member; a later one is the larger text. Absent: an object runs once. */
  runOf?(status: unknown): string | undefined
  /** The queue it names, if any. What a namespace says, and the default, are for the caller. */
  queueOf(template: KubeObject): string | undefined
  /** The priority class it names, if any. */
  priorityClassOf(template: KubeObject): string | undefined
  /** What all its pods request together, by resource: cpu in thousandths, everything else in whole units. */
  demandOf(template: KubeObject, needs: Needs): ReadonlyAmounts
}
