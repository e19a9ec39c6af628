/** Deployments: created, scaled, rolled to another image and back, deleted and created again. */

import { DEPLOYMENTS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { oneOf } from '../script.ts'
import { appOf, IMAGES, metadataOf, type Running, templateOf } from './pod-template.ts'

const specOf = (where: string, { replicas, image }: Running): Record<string, unknown> => ({
  replicas,
  selector: { matchLabels: { app: appOf(where) } },
  template: templateOf(appOf(where), image),
})

export const deployments: Generator = {
  name: 'deployment',
  resource: DEPLOYMENTS,
  names: ['default/web', 'default/api'],
  draw: (random): Running => ({ replicas: Math.floor(random.next() * 4), image: oneOf(random, IMAGES) }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(where),
    spec: specOf(where, desired as Running),
  }),
  change(object, desired) {
    const { replicas, template } = specOf(`${object.metadata.namespace}/${object.metadata.name}`, desired as Running)
    object.spec = { ...(object.spec as object), replicas, template }
  },
  wrong(object, desired) {
    const { replicas } = desired as Running
    const {
      readyReplicas = 0,
      updatedReplicas = 0,
      replicas: all = 0,
      observedGeneration,
    } = (object.status ?? {}) as Record<string, number>
    if (observedGeneration !== object.metadata.generation) return 'was not looked at since it changed'
    if ([readyReplicas, updatedReplicas, all].every((count) => count === replicas)) return undefined
    return `has ${all} pods, ${updatedReplicas} new and ${readyReplicas} ready, instead of ${replicas}`
  },
}
