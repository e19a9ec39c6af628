/** What users create on the hub for the fleet to run: scaled, rolled to another image, changed, deleted and created again. */

import type { Random } from '../../../../base/random.ts'
import { CLUSTER_ROLES, CONFIG_MAPS, DEPLOYMENTS, JOBS, SERVICES, STATEFUL_SETS } from '../../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { Generator } from '../../../../runtime/seams/seeded.ts'
import { oneOf } from '../../script.ts'
import { appOf, IMAGES, metadataOf, type Running, templateOf } from '../pod-template.ts'

const drawRunning = (random: Random): Running => ({ replicas: Math.floor(random.next() * 7), image: oneOf(random, IMAGES) })

const runningOf = (where: string, { replicas, image }: Running): Record<string, unknown> => ({
  replicas,
  selector: { matchLabels: { app: appOf(where) } },
  template: templateOf(appOf(where), image),
})

function scale(object: KubeObject, desired: unknown): void {
  const { replicas, image } = desired as Running
  object.spec = { ...(object.spec as object), replicas, template: templateOf(object.metadata.name ?? '', image) }
}

const deployment: Generator = {
  name: 'template deployment',
  resource: DEPLOYMENTS,
  names: ['default/shop', 'default/blog'],
  draw: drawRunning,
  object: (where, desired): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(where),
    spec: runningOf(where, desired as Running),
  }),
  change: scale,
}

const statefulSet: Generator = {
  name: 'template stateful set',
  resource: STATEFUL_SETS,
  names: ['default/ledger'],
  draw: drawRunning,
  object: (where, desired): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadataOf(where),
    spec: { ...runningOf(where, desired as Running), serviceName: appOf(where) },
  }),
  change: scale,
}

const job: Generator = {
  name: 'template job',
  resource: JOBS,
  names: ['default/sum'],
  // Without completions: their shares change with every new division, and a Job's completions are immutable in members.
  draw: (random) => ({ parallelism: 1 + Math.floor(random.next() * 3) }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metadataOf(where),
    spec: { ...(desired as object), template: templateOf(appOf(where), 'work:1', { restartPolicy: 'Never' }) },
  }),
  // The other fields are immutable.
  change(object, desired) {
    object.spec = { ...(object.spec as object), parallelism: (desired as { parallelism: number }).parallelism }
  },
}

const configMap: Generator = {
  name: 'template config map',
  resource: CONFIG_MAPS,
  names: ['default/settings'],
  draw: (random) => ({ color: oneOf(random, ['red', 'green', 'blue']) }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadataOf(where),
    data: desired as Record<string, string>,
  }),
  change: (object, desired) => void Object.assign(object, { data: desired }),
}

const service: Generator = {
  name: 'template service',
  resource: SERVICES,
  names: ['default/door'],
  draw: (random) => ({ port: oneOf(random, [80, 8080]) }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(where),
    spec: { selector: { app: 'shop' }, ports: [{ name: 'main', port: (desired as { port: number }).port, protocol: 'TCP' }] },
  }),
  change(object, desired) {
    object.spec = { ...(object.spec as object), ports: [{ name: 'main', port: (desired as { port: number }).port, protocol: 'TCP' }] }
  },
}

const clusterRole: Generator = {
  name: 'template cluster role',
  resource: CLUSTER_ROLES,
  names: ['pod-reader'],
  draw: (random) => ({ verbs: random.next() < 0.5 ? ['get'] : ['get', 'list'] }),
  object: (where, desired): KubeObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: where },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: (desired as { verbs: string[] }).verbs }],
  }),
  change(object, desired) {
    Object.assign(object, { rules: [{ apiGroups: [''], resources: ['pods'], verbs: (desired as { verbs: string[] }).verbs }] })
  },
}

export const TEMPLATES: readonly Generator[] = [deployment, statefulSet, job, configMap, service, clusterRole]
