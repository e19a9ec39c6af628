/** Bindings, templates and Works for tests. */

import { aWorld, type World, type WorldCluster } from '../../faultsim/world/index.ts'
import type { Binding, BindingSpec, ClusterAffinity, OverrideSpec, TargetCluster, Work } from '../../kinds/karmada/index.ts'
import { bindingName, clusterOfExecutionNamespace, executionNamespace } from '../../kinds/karmada/names.ts'
import { WORKS } from '../../kinds/karmada/resources.ts'
import {
  BINDING_FINALIZER,
  CLUSTER_BINDING_FINALIZER,
  CLUSTER_RESOURCE_BINDING_ID,
  EXECUTION_FINALIZER,
  RESOURCE_BINDING_ID,
} from '../../kinds/karmada/well-known.ts'
import { EVENTS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfObject } from '../../kube/object-reference.ts'
import { type Controller, defineController, NOTHING_TO_DO } from '../../runtime/controller.ts'
import { hasFinalizer, removeFinalizer } from '../../runtime/finalizer.ts'
import type { FleetDeps } from '../services.ts'
import { hubCast, joinMembers } from '../testing.ts'

export const aDeployment = (name: string, replicas = 2, more: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default', labels: { app: name }, ...more },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'registry.example/web:1.0' }] } },
  },
})

export const aClusterRole = (name: string): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
})

export const targets = (...clusters: (string | [string, number])[]): TargetCluster[] =>
  clusters.map((cluster) => (typeof cluster === 'string' ? { name: cluster } : { name: cluster[0], replicas: cluster[1] }))

/** The binding that the detector and the scheduler would create for a stored template. */
export function aBinding(template: KubeObject, spec: Partial<BindingSpec> = {}): Binding {
  const { namespace, name = '', uid, resourceVersion } = template.metadata
  const isNamespaced = namespace !== undefined
  const resource = {
    apiVersion: template.apiVersion,
    kind: template.kind,
    ...(isNamespaced ? { namespace } : {}),
    name,
    uid,
    resourceVersion,
  }
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: isNamespaced ? 'ResourceBinding' : 'ClusterResourceBinding',
    metadata: {
      name: bindingName(template.kind, name),
      ...(isNamespaced ? { namespace } : {}),
      labels: { [isNamespaced ? RESOURCE_BINDING_ID : CLUSTER_RESOURCE_BINDING_ID]: `id-of-${name}` },
      finalizers: [isNamespaced ? BINDING_FINALIZER : CLUSTER_BINDING_FINALIZER],
    },
    spec: { resource, conflictResolution: 'Abort', ...spec },
  }
}

/** The object inside a Work. */
export function manifestOf(work: Work | KubeObject | undefined): KubeObject {
  const [manifest] = (work as Work | undefined)?.spec.workload?.manifests ?? []
  if (manifest === undefined) throw new Error('there is no manifest')
  return manifest as KubeObject
}

export const anOverride = (
  name: string,
  labels: Record<string, string>,
  spec: Partial<OverrideSpec> = {},
  targetCluster?: ClusterAffinity,
): KubeObject => ({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'OverridePolicy',
  metadata: { name, namespace: 'default' },
  spec: {
    overrideRules: [
      { ...(targetCluster === undefined ? {} : { targetCluster }), overriders: { labelsOverrider: [{ operator: 'add', value: labels }] } },
    ],
    ...spec,
  },
})

export const aClusterOverride = (...of: Parameters<typeof anOverride>): KubeObject => {
  const policy = anOverride(...of)
  return { ...policy, kind: 'ClusterOverridePolicy', metadata: { name: policy.metadata.name } }
}

/** A hub with clusters that are registered but do not exist: the test decides what becomes of Works. */
export async function bindingWorld(
  cast: (deps: FleetDeps) => readonly Controller[],
  clusters = ['member1', 'member2', 'member3'],
): Promise<World> {
  const world = await aWorld({ controllers: hubCast(cast) }).settle()
  await joinMembers(
    world.hub,
    clusters.map((name) => ({ name })),
  )
  await world.settle()
  return world
}

export const worksIn = async (hub: WorldCluster): Promise<Work[]> => {
  const works = (await hub.list(WORKS)) as Work[]
  return works.sort((a, b) => (keyOfObject(a) < keyOfObject(b) ? -1 : 1))
}

/** Clusters that have a Work, with a mark on those whose Work is being deleted. */
export const placesOf = async (hub: WorldCluster): Promise<string[]> =>
  (await worksIn(hub)).map(
    ({ metadata }) => `${clusterOfExecutionNamespace(metadata.namespace ?? '')}${metadata.deletionTimestamp === undefined ? '' : ' going'}`,
  )

/** What execution does when nothing of a Work is left in its member. */
export async function release(hub: WorldCluster, cluster: string): Promise<void> {
  for (const { metadata } of await worksIn(hub))
    if (metadata.namespace === executionNamespace(cluster) && metadata.deletionTimestamp !== undefined)
      await hub.patch(WORKS, `${metadata.namespace}/${metadata.name}`, { metadata: { finalizers: null } })
}

export const eventsOf = async (hub: WorldCluster, reason: string): Promise<string[]> => {
  const events = (await hub.list(EVENTS)) as (KubeObject & {
    involvedObject: { kind: string }
    reason: string
    message: string
    count?: number
  })[]
  return events
    .filter((event) => event.reason === reason)
    .map(({ involvedObject, message, count = 1 }) => `${involvedObject.kind} ${count}× ${message}`)
    .sort()
}

/** Stands in for execution: a Work that is being deleted has nothing left in its member, and any other is applied. */
export const willing = defineController<Work | undefined, Work>({
  name: 'test.willing-member',
  for: WORKS,
  writes: [{ resource: WORKS, verbs: ['patch'] }],
  observe: (_ref, work) => work,
  plan: (work) =>
    work?.metadata.deletionTimestamp === undefined || !hasFinalizer(work, EXECUTION_FINALIZER)
      ? NOTHING_TO_DO
      : { actions: [removeFinalizer(WORKS, work, EXECUTION_FINALIZER)] },
})
