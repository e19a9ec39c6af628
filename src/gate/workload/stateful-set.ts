/** apps/v1 StatefulSet: replicas without an end. */
import { fieldAt } from '../../kube/fields.ts'
import { queueing } from './queueing.ts'
import { notEnded } from './reported.ts'
import type { WorkloadKind } from './workload.ts'

export const statefulSet: WorkloadKind = {
  group: 'apps',
  kind: 'StatefulSet',
  isEndless: true,
  stateOf: notEnded,
  ...queueing({ podTemplates: (template) => [fieldAt(template, 'spec', 'template')] }),
}
