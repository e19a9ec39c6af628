/** The kinds of workloads that the gate knows: one file and one line per kind. */
import { parseGroupVersion } from '../../kube/meta.ts'
import { cronJob } from './cron-job.ts'
import { deployment } from './deployment.ts'
import { job } from './job.ts'
import { pytorchJob } from './pytorch-job.ts'
import { rayCluster } from './ray-cluster.ts'
import { rayJob } from './ray-job.ts'
import { statefulSet } from './stateful-set.ts'
import { volcanoJob } from './volcano-job.ts'
import type { WorkloadKind } from './workload.ts'

export { type Progress, progressOf } from './progress.ts'
export type { MemberState, WorkloadKind } from './workload.ts'

export const WORKLOAD_KINDS: readonly WorkloadKind[] = Object.freeze([
  job,
  cronJob,
  deployment,
  statefulSet,
  pytorchJob,
  rayJob,
  rayCluster,
  volcanoJob,
])

/** Whatever the version: what a workload reports does not change with it. */
export function workloadKindOf(apiVersion: string, kind: string): WorkloadKind | undefined {
  const { group } = parseGroupVersion(apiVersion)
  return WORKLOAD_KINDS.find((known) => known.kind === kind && known.group === group)
}
