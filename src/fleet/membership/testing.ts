/** For tests of controllers that need members: a hub with some controllers of the fleet, and ordinary members. */
import { seededRandom } from '../../base/random.ts'
import type { Members } from '../../client/members.ts'
import { runControllers } from '../../composition.ts'
import type { RunControllers } from '../../faultsim/world/cluster.ts'
import { World, type WorldCluster } from '../../faultsim/world/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { GARBAGE_COLLECTOR, runGarbageCollector } from '../../minicluster/housekeeping/garbage/run.ts'
import { namespaceLifecycle } from '../../minicluster/housekeeping/namespace/controller.ts'
import type { Controller } from '../../runtime/controller.ts'
import { followMembers } from '../../runtime/followed-members.ts'
import { runAll } from '../../runtime/run-all.ts'
import { manualClock } from '../../runtime/testing.ts'
import type { ReportsOptions } from './cluster-status/reports.ts'

export type Cast = (deps: ReportsOptions & { members: Members }) => readonly Controller[]

/** The hub runs `cast`, the garbage collector and namespace lifecycle; members run what they always run. */
export const runWithCast =
  (cast: Cast): RunControllers =>
  (options, cluster) => {
    if (cluster.name !== 'hub') return runControllers(options)
    const { clock, random, connectMember = () => undefined } = options
    return runAll(options, ({ caches, clusterCache, clientOf, keepsManager, observer }) => {
      const members = followMembers({ caches, clock, random, connect: connectMember, keepsManager })
      const collector = runGarbageCollector({ client: clientOf(GARBAGE_COLLECTOR), clusterCache, ...observer })
      return { controllers: [...cast({ members, clock, random }), namespaceLifecycle(clusterCache)], members, loops: [collector] }
    })
  }

export interface Testbed {
  world: World
  hub: WorldCluster
}

export async function aTestbed(cast: Cast, options: { members?: number; nodes?: number } = {}): Promise<Testbed> {
  const world = new World({ ...options, controllers: runWithCast(cast) })
  await world.start()
  await world.settle()
  return { world, hub: world.hub }
}

export const aCluster = (name: string, spec: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'cluster.karmada.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name },
  spec: { syncMode: 'Push', apiEndpoint: `https://${name}`, secretRef: { namespace: 'karmada-cluster', name }, ...spec },
})

/** A binding of a Deployment as the detector makes it, with its clusters already set. */
export const aBinding = (where: string, clusters: readonly string[], more: Record<string, unknown> = {}): KubeObject => {
  const [namespace = '', name = ''] = where.split('/')
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { namespace, name: `${name}-deployment` },
    spec: {
      resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name },
      replicas: 1,
      clusters: clusters.map((cluster) => ({ name: cluster, replicas: 1 })),
      ...more,
    },
  }
}

/** For tests that only need a controller's name and declarations. */
export const NO_STATE: ReportsOptions = {
  members: { get: () => undefined, list: () => [], subscribe: () => () => undefined },
  clock: manualClock(),
  random: seededRandom(1),
}
