/**
 * What users create in a member under the name of a template, or do to what the fleet has there: the fleet must leave alone
 * what is not its own, and restore what is.
 */

import { CONFIG_MAPS, DEPLOYMENTS } from '../../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { Generator } from '../../../../runtime/seams/seeded.ts'
import { appOf, metadataOf, templateOf } from '../pod-template.ts'

export const foreignConfigMaps: Generator = {
  name: 'foreign config map',
  resource: CONFIG_MAPS,
  names: ['default/settings'],
  isContested: true,
  draw: () => ({ color: 'mine' }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadataOf(where),
    data: desired as Record<string, string>,
  }),
  change: (object, desired) => void Object.assign(object, { data: desired }),
}

export const foreignDeployments: Generator = {
  name: 'foreign deployment',
  resource: DEPLOYMENTS,
  names: ['default/shop', 'default/blog'],
  isContested: true,
  draw: () => ({ replicas: 1 }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(where),
    spec: {
      replicas: (desired as { replicas: number }).replicas,
      selector: { matchLabels: { app: appOf(where) } },
      template: templateOf(appOf(where), 'own:1'),
    },
  }),
  change(object, desired) {
    object.spec = { ...(object.spec as object), replicas: (desired as { replicas: number }).replicas }
  },
}
