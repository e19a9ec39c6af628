/** Jobs: a few pods that succeed, several at a time; suspended and resumed. */

import { JOBS } from '../../../kinds/kubernetes/resources.ts'
import { isConditionTrue } from '../../../kube/conditions.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { appOf, metadataOf, templateOf } from './pod-template.ts'

interface Work {
  completions: number
  parallelism: number
  completionMode: 'Indexed' | 'NonIndexed'
}

export const jobs: Generator = {
  name: 'job',
  resource: JOBS,
  names: ['default/import', 'default/export'],
  draw: (random): Work => ({
    completions: 1 + Math.floor(random.next() * 3),
    parallelism: 1 + Math.floor(random.next() * 3),
    completionMode: random.next() < 0.5 ? 'Indexed' : 'NonIndexed',
  }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metadataOf(where),
    spec: { ...(desired as Work), template: templateOf(appOf(where), 'work:1', { restartPolicy: 'Never' }) },
  }),
  // The other fields are immutable.
  change(object, desired) {
    object.spec = { ...(object.spec as object), parallelism: (desired as Work).parallelism }
  },
  wrong(object) {
    const status = object.status as { conditions?: { type: string; status: string }[]; succeeded?: number } | undefined
    const { completions } = object.spec as Partial<Work>
    if (!isConditionTrue(status?.conditions, 'Complete')) return 'is not complete'
    return status?.succeeded === completions ? undefined : `counts ${status?.succeeded} of ${completions}`
  },
}
