/** batch.volcano.sh/v1alpha1 Job. One that was aborted or terminated did not succeed; while it is on its way there, it runs. */
import { fieldAt, listAt } from '../../kube/fields.ts'
import { queueing } from './queueing.ts'
import { notEnded } from './reported.ts'
import type { MemberState, WorkloadKind } from './workload.ts'

export const volcanoJob: WorkloadKind = {
  group: 'batch.volcano.sh',
  kind: 'Job',
  isEndless: false,
  stateOf,
  ...queueing({
    podTemplates: (template) => listAt(template, 'spec', 'tasks').map((task) => task.template),
    queue: ['spec', 'queue'],
    priorityClass: ['spec', 'priorityClassName'],
  }),
}

function stateOf(status: unknown): MemberState {
  switch (fieldAt(status, 'state', 'phase')) {
    case 'Completed':
      return 'succeeded'
    case 'Failed':
    case 'Aborted':
    case 'Terminated':
      return 'failed'
    default:
      return notEnded(status)
  }
}
