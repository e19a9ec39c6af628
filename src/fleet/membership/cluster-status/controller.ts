/**
 * Cluster.status describes a member: whether it answers, its version, what it serves and its resources. Sole writer of:
 * kubernetesVersion, apiEnablements, nodeSummary, resourceSummary and the conditions Ready and CompleteAPIEnablements. Runs
 * again when a heartbeat or the member's nodes, pods and definitions may change the status; writes only what changed.
 * Members in Pull mode report their own status. Deletion: nothing to undo; monitoring of the member ends.
 */
import type { Cluster } from '../../../kinds/karmada/index.ts'
import { CLUSTERS } from '../../../kinds/karmada/resources.ts'
import { type Controller, defineController } from '../../../runtime/controller.ts'
import type { MemberState } from './member-state.ts'
import { type KnownState, type ObservedStatus, planWith } from './plan.ts'
import { CLUSTER_STATUS_DEFAULTS, type ClusterStatusOptions, createReports, type ReportsOptions } from './reports.ts'

export function clusterStatus(state: ReportsOptions, given: Partial<ClusterStatusOptions> = {}): Controller {
  const options = { ...CLUSTER_STATUS_DEFAULTS, ...given }
  const reports = createReports(state, options)
  state.summaries?.knownBy(reports.summaryOf)
  return defineController<ObservedStatus, Cluster>({
    name: 'fleet.membership.cluster-status',
    component: 'cluster-status-controller',
    for: CLUSTERS,
    signals: [reports],
    writes: [{ resource: CLUSTERS, subresource: 'status', verbs: ['patch'] }],
    concurrency: 8,
    observe({ name }, cluster, read) {
      const nowMs = read.nowMs()
      if (cluster?.spec?.syncMode !== 'Push') {
        reports.forget(name)
        return { cluster: undefined, streak: undefined, state: undefined, nowMs }
      }
      const report = reports.of(name)
      const known = report?.state
      return { cluster, streak: report?.streak, state: known === undefined ? undefined : snapshot(known), nowMs }
    },
    plan: planWith(options),
  })
}

const snapshot = (state: MemberState): KnownState => ({
  isComplete: state.isComplete,
  version: state.version,
  enablements: state.enablements,
  summary: state.summary(),
})
