/** DaemonSets: a pod on every node. */

import { DAEMON_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { oneOf } from '../script.ts'
import { appOf, IMAGES, metadataOf, templateOf } from './pod-template.ts'

export const daemonSets: Generator = {
  name: 'daemon set',
  resource: DAEMON_SETS,
  names: ['default/agent'],
  draw: (random) => ({ image: oneOf(random, IMAGES) }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: metadataOf(where),
    spec: { selector: { matchLabels: { app: appOf(where) } }, template: templateOf(appOf(where), (desired as { image: string }).image) },
  }),
  change(object, desired) {
    object.spec = { ...(object.spec as object), template: templateOf(object.metadata.name ?? '', (desired as { image: string }).image) }
  },
  wrong(object) {
    const {
      desiredNumberScheduled: wanted = 0,
      numberReady = 0,
      updatedNumberScheduled = 0,
    } = (object.status ?? {}) as Record<string, number>
    if (wanted > 0 && numberReady === wanted && updatedNumberScheduled === wanted) return undefined
    return `is ready on ${numberReady} and new on ${updatedNumberScheduled} of ${wanted} nodes`
  },
}
