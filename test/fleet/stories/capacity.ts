/** Replicas by the capacity that clusters have: in proportion to it (dynamic weight), or in as few clusters as hold them (aggregated). */
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isPlaced, isScheduled, placedWhere, reportedAs, type Shares, says, totalOf } from '../bindings.ts'
import { ownCapacity } from '../clusters.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'
import { AGGREGATED, BY_CAPACITY, spreadOver } from '../workloads.ts'

/** A Deployment of so many, whose pods take one of what members have of the story's own. */
async function web(testbed: FleetTestbed, replicas: number, amounts: Record<string, number>, strategy: Record<string, unknown>) {
  const capacity = ownCapacity(testbed)
  await capacity.give(amounts)
  await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...on(...testbed.members), ...strategy }))
  await testbed.hub.create(aDeployment('web', { replicas, pod: capacity.pod }))
  return capacity
}

/** Once clusters have reported what is left, so that new replicas are weighed by that. */
async function rescale(testbed: FleetTestbed, replicas: number): Promise<void> {
  await testbed.settle()
  await testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas } })
}

/** The same without waiting: earlier decisions may still be in flight, or have arrived and not be counted yet. */
const rescaleAtOnce = (testbed: FleetTestbed, replicas: number): Promise<unknown> =>
  testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas } })

const fits = (shares: Shares, capacity: Shares): boolean => Object.entries(shares).every(([name, share]) => share <= (capacity[name] ?? 0))

export const capacity: FleetArea = {
  name: 'replicas by room',
  stories: [
    {
      name: 'dynamic weight: in proportion to what each cluster can take',
      async run(testbed) {
        await web(testbed, 12, { member1: 18, member2: 12, member3: 6 }, BY_CAPACITY)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 6, member2: 4, member3: 2 })
        await isScheduled(testbed, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'dynamic weight: more replicas come to those that are there, by what is still free',
      async run(testbed) {
        await web(testbed, 6, { member1: 6, member2: 3 }, BY_CAPACITY)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 4, member2: 2 })
        await rescale(testbed, 9)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 6, member2: 3 })
      },
    },
    {
      name: 'dynamic weight: fewer replicas shrink in proportion to what is there',
      async run(testbed) {
        await web(testbed, 9, { member1: 12, member2: 6 }, BY_CAPACITY)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 6, member2: 3 })
        await rescale(testbed, 3)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 1 })
      },
    },
    {
      name: 'too little room: the binding says how much there is, and room that comes ends the wait',
      async run(testbed) {
        const capacity = await web(testbed, 5, { member1: 2, member2: 1 }, BY_CAPACITY)
        const message = 'failed to assign replicas: failed to scale up: Clusters available replicas 3 are not enough to schedule.'
        await says(testbed, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'Unschedulable', message })
        await isPlaced(testbed, DEPLOYMENTS, 'web', {})
        await capacity.give({ member3: 2 })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 1, member3: 2 })
        await isScheduled(testbed, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'aggregated: in the one cluster that holds all of them',
      async run(testbed) {
        await web(testbed, 5, { member1: 2, member2: 8, member3: 4 }, AGGREGATED)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 5 })
      },
    },
    {
      name: 'aggregated: as few clusters as are needed, beginning with the one that has them already',
      async run(testbed) {
        await web(testbed, 3, { member1: 4, member2: 3, member3: 2 }, AGGREGATED)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 3 })
        await rescale(testbed, 6)
        await placedWhere(testbed, DEPLOYMENTS, 'web', (shares) => totalOf(shares) === 6 && Object.keys(shares).length === 2)
        await rescale(testbed, 9)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 4, member2: 3, member3: 2 })
      },
    },
    {
      name: 'aggregated: more and more at once: no cluster is given more than it has',
      async run(testbed) {
        const amounts = { member1: 4, member2: 3, member3: 2 }
        await web(testbed, 3, amounts, AGGREGATED)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 3 })
        for (const replicas of [6, 9]) {
          await rescaleAtOnce(testbed, replicas)
          await placedWhere(testbed, DEPLOYMENTS, 'web', (shares) => totalOf(shares) === replicas && fits(shares, amounts))
        }
      },
    },
    {
      name: 'aggregated: more in the moment in which all are well and the cluster has not counted them: not more than it has',
      needs: 'pods', // because only running pods are healthy, and counted
      async run(testbed) {
        const amounts = { member1: 4, member2: 3, member3: 2 }
        await web(testbed, 3, amounts, AGGREGATED)
        await reportedAs(testbed, DEPLOYMENTS, 'web', 'member1', ({ health }) => health === 'Healthy')
        for (const replicas of [6, 9]) {
          await rescaleAtOnce(testbed, replicas)
          await placedWhere(testbed, DEPLOYMENTS, 'web', (shares) => totalOf(shares) === replicas && fits(shares, amounts))
          await reportedAs(testbed, DEPLOYMENTS, 'web', 'member2', ({ health }) => health === 'Healthy')
        }
      },
    },
    {
      name: 'aggregated within a spread constraint: the clusters that together have the room',
      async run(testbed) {
        await web(testbed, 7, { member1: 1, member2: 4, member3: 3 }, { ...AGGREGATED, spreadConstraints: [spreadOver('cluster', 2, 2)] })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 4, member3: 3 })
      },
    },
    {
      name: 'no two clusters have the room: the binding says so',
      async run(testbed) {
        await web(testbed, 8, { member1: 3, member2: 3, member3: 3 }, { ...AGGREGATED, spreadConstraints: [spreadOver('cluster', 2, 2)] })
        const message = 'failed to select clusters: no enough resource when selecting 2 clusters'
        await says(testbed, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'SchedulerError', message })
      },
    },
  ],
}
