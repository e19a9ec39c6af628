/**
 * Karmada's metrics, under its names, with its labels and buckets, so that dashboards made for it keep working. This is the
 * only place where they are declared: the series, the reference and the tests are derived from this table.
 */
import { exponentialBuckets } from 'prom-client'
import type { DeclaredMetrics } from '../../runtime/module/module.ts'

export interface DeclaredMetric {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly string[]
  /** For a histogram; default: Prometheus' own. */
  buckets?: readonly number[]
}

const MEMBER = 'member_cluster'
const MILLISECONDS_12 = exponentialBuckets(0.001, 2, 12)
const MILLISECONDS_15 = exponentialBuckets(0.001, 2, 15)
const RESULT = "By the result, 'error' means that it failed, otherwise 'success'."

const ofCluster = (help: string): DeclaredMetric => ({ type: 'gauge', help, labels: [MEMBER] })
const duration = (help: string, labels: readonly string[], buckets: readonly number[] = MILLISECONDS_12): DeclaredMetric => ({
  type: 'histogram',
  help,
  labels,
  buckets,
})
const written = (help: string, ...more: string[]): DeclaredMetric => ({
  type: 'counter',
  help: `${help} ${RESULT}`,
  labels: ['result', 'apiversion', 'kind', MEMBER, ...more],
})

const declared = <Name extends string>(table: Record<Name, DeclaredMetric>): Readonly<Record<Name, DeclaredMetric>> => table

export const KARMADA_METRICS = declared({
  cluster_ready_state: ofCluster('State of the cluster (1 if ready, 0 otherwise).'),
  cluster_node_number: ofCluster('Number of nodes in the cluster.'),
  cluster_ready_node_number: ofCluster('Number of ready nodes in the cluster.'),
  cluster_memory_allocatable_bytes: ofCluster('Allocatable memory of the cluster in bytes.'),
  cluster_cpu_allocatable_number: ofCluster('Allocatable CPUs of the cluster.'),
  cluster_pod_allocatable_number: ofCluster('Allocatable pods of the cluster.'),
  cluster_memory_allocated_bytes: ofCluster('Allocated memory of the cluster in bytes.'),
  cluster_cpu_allocated_number: ofCluster('Allocated CPUs of the cluster.'),
  cluster_pod_allocated_number: ofCluster('Allocated pods of the cluster.'),
  cluster_sync_status_duration_seconds: {
    type: 'histogram',
    help: 'Time that one heartbeat of the cluster took.',
    labels: [MEMBER],
  },
  resource_match_policy_duration_seconds: duration('Time to find the policy of a template.', []),
  resource_apply_policy_duration_seconds: duration(`Time of a pass that applied a policy to a template. ${RESULT}`, ['result']),
  policy_apply_attempts_total: { type: 'counter', help: `Passes that applied a policy to a template. ${RESULT}`, labels: ['result'] },
  policy_preemption_total: { type: 'counter', help: `Templates taken over by another policy. ${RESULT}`, labels: ['result'] },
  binding_sync_work_duration_seconds: duration(`Time of a pass that made, changed or removed Works of a binding. ${RESULT}`, ['result']),
  work_sync_workload_duration_seconds: duration(`Time of a pass that brought a Work to its cluster, or its status back. ${RESULT}`, [
    'result',
  ]),
  create_resource_to_cluster: written('Objects created in a member.', 'recreate'),
  update_resource_to_cluster: written('Objects updated in a member; operationResult is updated, or none.', 'operationResult'),
  delete_resource_from_cluster: written('Objects deleted in a member.'),
  eviction_queue_depth: { type: 'gauge', help: 'Bindings that wait for their turn to be driven away by a taint.', labels: ['name'] },
  eviction_kind_total: { type: 'gauge', help: 'The same by cluster and kind of binding.', labels: [MEMBER, 'resource_kind'] },
  eviction_processing_latency_seconds: duration('Time of a pass that drove a binding away.', ['name'], MILLISECONDS_15),
  eviction_processing_total: { type: 'counter', help: `Passes that drove a binding away. ${RESULT}`, labels: ['name', 'result'] },
  karmada_scheduler_schedule_attempts_total: {
    type: 'counter',
    help: "Attempts to schedule a binding. By the result, 'scheduled' or 'error'.",
    labels: ['result', 'schedule_type'],
  },
  karmada_scheduler_e2e_scheduling_duration_seconds: duration(
    'Time of a scheduling attempt, from taking the binding to the last answer.',
    ['result', 'schedule_type'],
    MILLISECONDS_15,
  ),
  karmada_scheduler_scheduling_algorithm_duration_seconds: duration('Time of each step of a decision.', ['schedule_step'], MILLISECONDS_15),
  karmada_scheduler_queue_incoming_bindings_total: {
    type: 'counter',
    help: 'Bindings that came into the queue of the scheduler, by what brought them.',
    labels: ['event'],
  },
  scheduler_pending_bindings: {
    type: 'gauge',
    help: "Bindings that are not scheduled: 'active' wait for their turn, 'backoff' failed and are tried again, 'unschedulable' fit nowhere.",
    labels: ['queue'],
  },
})

export type KarmadaMetric = keyof typeof KARMADA_METRICS

/** As the reference shows them. */
export const FLEET_METRICS: DeclaredMetrics = {
  heading: 'Of the fleet, as Karmada names them',
  intro:
    'On the hub, from `src/fleet/metrics/declared.ts`: names, types, labels and buckets are those of Karmada, so that dashboards made for it go on working. The controllers and the scheduler are one process here, so all are on one page. Passes that changed nothing are not counted as attempts. Series of a cluster go with it.',
  declared: KARMADA_METRICS,
  outro:
    'Not here, because there is nothing to tell: `pool_*` (Lua interpreters are not pooled), `karmada_scheduler_framework_extension_point_duration_seconds` and `karmada_scheduler_plugin_execution_duration_seconds` (a filter of one cluster takes less than its measurement; the steps are measured), `karmada_scheduler_estimator_*`, `federatedhpa_*`, `cronfederatedhpa_*` (kinds that are not here), `karmada_build_info`.',
}
