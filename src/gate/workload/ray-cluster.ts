/** ray.io/v1 RayCluster: it serves jobs without an end, and can fail. */
import { fieldAt, fieldsAt, listAt } from '../../kube/fields.ts'
import { queueing } from './queueing.ts'
import { notEnded } from './reported.ts'
import type { WorkloadKind } from './workload.ts'

/** KubeRay's label for the priority of all pods. */
export const RAY_PRIORITY_CLASS = ['metadata', 'labels', 'ray.io/priority-class-name'] as const

/** The pod templates of a RayClusterSpec: the head, then the groups of workers. */
export const rayPodTemplates = (spec: unknown): unknown[] => [
  fieldAt(spec, 'headGroupSpec', 'template'),
  ...listAt(spec, 'workerGroupSpecs').map((group) => group.template),
]

export const rayCluster: WorkloadKind = {
  group: 'ray.io',
  kind: 'RayCluster',
  isEndless: true,
  stateOf: (status) => (fieldAt(status, 'state') === 'failed' ? 'failed' : notEnded(status)),
  ...queueing({ podTemplates: (template) => rayPodTemplates(fieldsAt(template, 'spec')), priorityClass: RAY_PRIORITY_CLASS }),
}
