/** apps/v1 Deployment: replicas without an end. */
import { fieldAt } from '../../kube/fields.ts'
import { queueing } from './queueing.ts'
import { notEnded } from './reported.ts'
import type { WorkloadKind } from './workload.ts'

export const deployment: WorkloadKind = {
  group: 'apps',
  kind: 'Deployment',
  isEndless: true,
  stateOf: notEnded,
  ...queueing({ podTemplates: (template) => [fieldAt(template, 'spec', 'template')] }),
}
