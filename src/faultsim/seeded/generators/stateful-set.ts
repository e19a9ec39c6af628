/** StatefulSets: pods in order, each with its own volume, which is kept when the pod goes. */

import { STATEFUL_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { oneOf } from '../script.ts'
import { appOf, IMAGES, metadataOf, type Running, templateOf } from './pod-template.ts'

export const statefulSets: Generator = {
  name: 'stateful set',
  resource: STATEFUL_SETS,
  names: ['default/db'],
  draw: (random): Running => ({ replicas: Math.floor(random.next() * 3), image: oneOf(random, IMAGES) }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadataOf(where),
    spec: {
      replicas: (desired as Running).replicas,
      serviceName: appOf(where),
      selector: { matchLabels: { app: appOf(where) } },
      template: templateOf(appOf(where), (desired as Running).image),
      volumeClaimTemplates: [
        { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      ],
    },
  }),
  change(object, desired) {
    const { replicas, image } = desired as Running
    object.spec = { ...(object.spec as object), replicas, template: templateOf(object.metadata.name ?? '', image) }
  },
  wrong(object, desired) {
    const { readyReplicas = 0, replicas = 0 } = (object.status ?? {}) as Record<string, number>
    const wanted = (desired as Running).replicas
    return readyReplicas === wanted && replicas === wanted
      ? undefined
      : `has ${replicas} pods, ${readyReplicas} ready, instead of ${wanted}`
  },
}
