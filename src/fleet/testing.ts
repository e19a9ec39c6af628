/** Worlds for tests of the fleet: a hub with chosen controllers, members that are real clusters, joined by hand. */

import { runControllers } from '../composition.ts'
import type { RunControllers, WorldCluster } from '../faultsim/world/cluster.ts'
import { aWorld, type World, type WorldOptions } from '../faultsim/world/index.ts'
import { CLUSTERS } from '../kinds/karmada/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { GARBAGE_COLLECTOR, runGarbageCollector } from '../minicluster/housekeeping/garbage/run.ts'
import type { Controller } from '../runtime/controller.ts'
import { followMembers } from '../runtime/followed-members.ts'
import { propagatableBy } from '../runtime/module/run-modules.ts'
import { runAll } from '../runtime/run-all.ts'
import { createTemplates } from '../runtime/templates.ts'
import { nativeInterpreter } from './interpreter/testing.ts'
import type { FleetDeps } from './services.ts'

/** Runs these controllers on the hub, and the garbage collector; members run what they usually run. */
export function hubCast(cast: (deps: FleetDeps) => readonly Controller[]): RunControllers {
  return (options) => {
    if (options.role === 'member') return runControllers(options)
    const propagatable = propagatableBy(options.modules)
    return runAll({ ...options, keepsWhole: propagatable.isPropagatable }, (shared) => {
      const { caches, clusterCache, clientOf, keepsManager, observer } = shared
      const connect = options.connectMember ?? (() => undefined)
      const members = followMembers({ caches, connect, keepsManager, clock: observer.clock, random: observer.random })
      const deps = { templates: createTemplates(clusterCache, propagatable), members, interpreter: nativeInterpreter() }
      const collector = runGarbageCollector({ client: clientOf(GARBAGE_COLLECTOR), clusterCache, ...observer })
      return { controllers: cast(deps), members, loops: [collector] }
    })
  }
}

const API = [
  { groupVersion: 'apps/v1', resources: ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'] },
  { groupVersion: 'batch/v1', resources: ['Job', 'CronJob'] },
  { groupVersion: 'rbac.authorization.k8s.io/v1', resources: ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'] },
  { groupVersion: 'v1', resources: ['ConfigMap', 'Namespace', 'Pod', 'Secret', 'Service', 'ServiceAccount'] },
]

/** A member as membership would report it: ready, with the usual kinds and plenty of capacity. */
export function aCluster(name: string, spec: Record<string, unknown> = {}, labels: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels },
    spec: {
      syncMode: 'Push',
      apiEndpoint: `https://${name}.world:6443`,
      secretRef: { namespace: 'karmada-cluster', name },
      ...spec,
    },
  }
}

const READY = {
  type: 'Ready',
  status: 'True',
  reason: 'ClusterReady',
  message: 'cluster is healthy and ready to accept workloads',
  lastTransitionTime: '2026-01-01T00:00:00Z',
}

export const readyStatus = {
  kubernetesVersion: 'v1.36.3',
  conditions: [READY],
  apiEnablements: API.map(({ groupVersion, resources }) => ({
    groupVersion,
    resources: resources.map((kind) => ({ kind, name: `${kind.toLowerCase()}s` })),
  })),
  resourceSummary: {
    allocatable: { cpu: '32', memory: '128Gi', pods: '440' },
    allocating: { cpu: '0', memory: '0', pods: '0' },
    allocated: { cpu: '0', memory: '0', pods: '0' },
  },
}

/** Registers every member of the world at the hub by hand, with its execution namespace, as ready. */
export async function joinMembers(hub: WorldCluster, members: readonly { name: string }[]): Promise<void> {
  await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'karmada-cluster' } })
  for (const [i, { name }] of members.entries()) {
    await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: `karmada-es-${name}` } })
    await hub.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'karmada-cluster' },
      data: { token: Buffer.from('token').toString('base64'), caBundle: '' },
    } as KubeObject)
    const region = ['east', 'west', 'north'][i % 3]
    await hub.create(aCluster(name, { region, zones: [`${region}-a`] }, { location: 'somewhere' }))
    await hub.patch(CLUSTERS, name, { status: readyStatus }, 'status')
  }
}

export interface FleetWorldOptions extends Omit<WorldOptions, 'controllers'> {
  cast(deps: FleetDeps): readonly Controller[]
}

/** A world whose members are joined by hand; `members` default to 2, without nodes. */
export async function fleetWorld({ cast, members = 2, ...options }: FleetWorldOptions): Promise<World> {
  const world = await aWorld({ ...options, members, controllers: hubCast(cast) }).settle()
  await joinMembers(world.hub, world.members)
  await world.settle()
  return world
}

/** For `survives`: `before: [joined(2)]` with `members: 2` and `controllers: hubCast(…)`. */
export const joined =
  (count: number) =>
  (hub: WorldCluster): Promise<void> =>
    joinMembers(
      hub,
      Array.from({ length: count }, (_, i) => ({ name: `member${i + 1}` })),
    )
