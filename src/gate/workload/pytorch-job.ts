/** kubeflow.org/v1 PyTorchJob. Restarting is no failure: the operator sets Failed only when it gives up. */
import { fieldAt } from '../../kube/fields.ts'
import { queueing } from './queueing.ts'
import { isTrue, notEnded } from './reported.ts'
import type { WorkloadKind } from './workload.ts'

const SCHEDULING_POLICY = ['spec', 'runPolicy', 'schedulingPolicy'] as const

export const pytorchJob: WorkloadKind = {
  group: 'kubeflow.org',
  kind: 'PyTorchJob',
  isEndless: false,
  stateOf: (status) => (isTrue(status, 'Failed') ? 'failed' : isTrue(status, 'Succeeded') ? 'succeeded' : notEnded(status)),
  ...queueing({
    podTemplates: (template) => ['Master', 'Worker'].map((role) => fieldAt(template, 'spec', 'pytorchReplicaSpecs', role, 'template')),
    queue: [...SCHEDULING_POLICY, 'queue'],
    priorityClass: [...SCHEDULING_POLICY, 'priorityClass'],
  }),
}
