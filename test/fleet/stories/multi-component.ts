/** Workloads of several parts (a Volcano Job, a Ray cluster) go to one cluster that has capacity for all of them. */

import type { KubeObject } from '../../../src/kube/meta.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import { bindingOf, placedWhere, reportedAs, says } from '../bindings.ts'
import { ownCapacity } from '../clusters.ts'
import { aPropagationPolicy, on, selectorOf } from '../manifests.ts'
import { installed, report } from '../own-kind.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'
import { AGGREGATED, spreadOver } from '../workloads.ts'

const VOLCANO_JOBS: Resource = { group: 'batch.volcano.sh', version: 'v1alpha1', plural: 'jobs', kind: 'Job', namespaced: true }
const RAY_CLUSTERS: Resource = { group: 'ray.io', version: 'v1', plural: 'rayclusters', kind: 'RayCluster', namespaced: true }

const ONE_CLUSTER = { spreadConstraints: [spreadOver('cluster', 1, 1)] }

/** A Volcano Job asks for as many as it needs to begin. */
const task = (name: string, replicas: number, pod: unknown): Record<string, unknown> => ({
  name,
  replicas,
  minAvailable: replicas,
  template: { spec: pod },
})

const worker = (groupName: string, replicas: number, pod: unknown): Record<string, unknown> => ({
  groupName,
  replicas,
  template: { spec: pod },
})

/** Its parts by name and count, as the binding has them. */
async function partsOf(testbed: FleetTestbed, resource: Resource, name: string): Promise<string> {
  const { components = [] } = (await bindingOf(testbed, resource, name))?.spec ?? {}
  return components.map((part) => `${part.name}:${part.replicas}`).join()
}

const NOTHING = { replicas: () => 0 }

async function submit(testbed: FleetTestbed, resource: Resource, object: KubeObject, more: Record<string, unknown> = {}): Promise<void> {
  const placement = { ...on(...testbed.members), ...ONE_CLUSTER, ...more }
  await testbed.hub.create(aPropagationPolicy('whole', [selectorOf(object)], placement))
  await testbed.hub.create(object, resource)
}

export const multiComponent: FleetArea = {
  name: 'workloads of several parts',
  stories: [
    {
      name: 'a Volcano Job goes whole to the one cluster that can take all of its tasks, and its status comes back',
      alone: true,
      async run(testbed) {
        const jobs = await installed(testbed, VOLCANO_JOBS)
        const capacity = ownCapacity(testbed)
        await capacity.give({ member1: 3, member2: 5, member3: 4 })
        const job = jobs.make('train', { minAvailable: 5, tasks: [task('ps', 1, capacity.pod), task('worker', 4, capacity.pod)] })
        await submit(testbed, VOLCANO_JOBS, job)
        await placedWhere(testbed, VOLCANO_JOBS, 'train', (shares) => Object.keys(shares).join() === 'member2', NOTHING)
        await testbed.until('its tasks in the binding', async () => (await partsOf(testbed, VOLCANO_JOBS, 'train')) === 'ps:1,worker:4')
        await report(testbed.members[1], jobs, 'train', { state: { phase: 'Running' }, running: 5, minAvailable: 5 })
        await reportedAs(testbed, VOLCANO_JOBS, 'train', 'member2', ({ health }) => health === 'Healthy')
        await testbed.until('the status on the template', async () => {
          const { status } = ((await testbed.hub.get(VOLCANO_JOBS, 'train')) ?? {}) as { status?: { running?: number } }
          return status?.running === 5
        })
      },
    },
    {
      name: 'no single cluster has room for the whole: the binding says so, and room that comes ends the wait',
      alone: true,
      async run(testbed) {
        const jobs = await installed(testbed, VOLCANO_JOBS)
        const capacity = ownCapacity(testbed)
        await capacity.give({ member1: 3, member2: 3, member3: 3 })
        const job = jobs.make('train', { minAvailable: 4, tasks: [task('worker', 4, capacity.pod), task('ps', 1, capacity.pod)] })
        await submit(testbed, VOLCANO_JOBS, job, AGGREGATED)
        const message = 'failed to select clusters: no enough resource when selecting 1 clusters'
        await says(testbed, VOLCANO_JOBS, 'train', { type: 'Scheduled', status: 'False', reason: 'SchedulerError', message })
        await capacity.give({ member3: 5 })
        await placedWhere(testbed, VOLCANO_JOBS, 'train', (shares) => Object.keys(shares).join() === 'member3', NOTHING)
      },
    },
    {
      name: 'a RayCluster goes whole to one cluster: its head and its groups of workers',
      alone: true,
      async run(testbed) {
        const rays = await installed(testbed, RAY_CLUSTERS)
        const capacity = ownCapacity(testbed)
        await capacity.give({ member1: 2, member2: 2, member3: 6 })
        const ray = rays.make('ray', {
          headGroupSpec: { template: { spec: capacity.pod } },
          workerGroupSpecs: [worker('small', 2, capacity.pod), worker('large', 1, capacity.pod)],
        })
        await submit(testbed, RAY_CLUSTERS, ray)
        await placedWhere(testbed, RAY_CLUSTERS, 'ray', (shares) => Object.keys(shares).join() === 'member3', NOTHING)
        await testbed.until(
          'its parts in the binding',
          async () => (await partsOf(testbed, RAY_CLUSTERS, 'ray')) === 'ray-head:1,small:2,large:1',
        )
        const conditions = ['HeadPodReady', 'RayClusterProvisioned'].map((type) => ({ type, status: 'True' }))
        await report(testbed.members[2], rays, 'ray', { state: 'ready', conditions })
        await reportedAs(testbed, RAY_CLUSTERS, 'ray', 'member3', ({ health }) => health === 'Healthy')
      },
    },
  ],
}
