/**
 * ray.io/v1 RayJob. `jobDeploymentStatus` says that it has ended, `jobStatus` how: a failed Ray job may be retried before
 * that, and one that was stopped, or whose result never became known, did not succeed.
 */
import { fieldAt } from '../../kube/fields.ts'
import { queueing } from './queueing.ts'
import { RAY_PRIORITY_CLASS, rayPodTemplates } from './ray-cluster.ts'
import { notEnded } from './reported.ts'
import type { MemberState, WorkloadKind } from './workload.ts'

export const rayJob: WorkloadKind = {
  group: 'ray.io',
  kind: 'RayJob',
  isEndless: false,
  stateOf,
  ...queueing({
    podTemplates: (template) => [
      ...rayPodTemplates(fieldAt(template, 'spec', 'rayClusterSpec')),
      fieldAt(template, 'spec', 'submitterPodTemplate'),
    ],
    priorityClass: RAY_PRIORITY_CLASS,
  }),
}

function stateOf(status: unknown): MemberState {
  switch (fieldAt(status, 'jobDeploymentStatus')) {
    case 'Complete':
      return fieldAt(status, 'jobStatus') === 'SUCCEEDED' ? 'succeeded' : 'failed'
    case 'Failed':
    case 'ValidationFailed':
      return 'failed'
    default:
      return notEnded(status)
  }
}
