/** Works that report, for tests. */
import type { Work, WorkStatus } from '../../../kinds/karmada/index.ts'
import { executionNamespace } from '../../../kinds/karmada/names.ts'
import type { ObjectMeta } from '../../../kube/meta.ts'

const IDENTIFIER = { ordinal: 0, group: 'apps', version: 'v1', kind: 'Deployment', resource: '', namespace: 'default', name: 'web' }

/** Whether it is applied, or why not; and, if the member has reported, the status of the object. */
export function aReport(
  applied: true | string,
  status?: Record<string, unknown>,
  health: 'Healthy' | 'Unhealthy' | 'Unknown' = 'Unknown',
): WorkStatus {
  const isApplied = applied === true
  const condition = {
    type: 'Applied',
    status: isApplied ? 'True' : 'False',
    reason: isApplied ? 'AppliedSuccessful' : 'AppliedFailed',
    message: isApplied ? 'Manifest has been successfully applied' : applied,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  return {
    conditions: [condition],
    ...(status === undefined ? {} : { manifestStatuses: [{ identifier: IDENTIFIER, status, health }] }),
  } as WorkStatus
}

export const aReportingWork = (cluster: string, status?: WorkStatus, more: Partial<ObjectMeta> = {}): Work => ({
  apiVersion: 'work.karmada.io/v1alpha1',
  kind: 'Work',
  metadata: {
    name: 'web-work',
    namespace: executionNamespace(cluster),
    labels: { 'resourcebinding.karmada.io/permanent-id': 'id-of-web' },
    annotations: { 'resourcebinding.karmada.io/namespace': 'default', 'resourcebinding.karmada.io/name': 'web-deployment' },
    ...more,
  },
  spec: {},
  ...(status === undefined ? {} : { status }),
})
