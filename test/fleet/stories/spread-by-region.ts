/** So many regions, and so many clusters within them. */
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isPlaced, placedWhere, says } from '../bindings.ts'
import { whileCluster } from '../clusters.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'
import { spreadOver } from '../workloads.ts'

async function webOver(testbed: FleetTestbed, ...spreadConstraints: unknown[]): Promise<void> {
  await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...on(...testbed.members), spreadConstraints }))
  await testbed.hub.create(aDeployment('web', { replicas: 2 }))
}

export const spreadByRegion: FleetArea = {
  name: 'spread by region',
  stories: [
    {
      name: 'as many regions as are asked for, each with a cluster',
      async run(testbed) {
        await webOver(testbed, spreadOver('region', 2, 2), spreadOver('cluster', 2, 2))
        await placedWhere(testbed, DEPLOYMENTS, 'web', (shares) => Object.keys(shares).length === 2)
      },
    },
    {
      name: 'every region that there is',
      async run(testbed) {
        await webOver(testbed, spreadOver('region', 3, 3), spreadOver('cluster', 3, 3))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
      },
    },
    {
      name: 'two clusters of one region do not make two regions: one of them and the cluster elsewhere',
      alone: true,
      async run(testbed) {
        await whileCluster(testbed, testbed.members[1], { region: 'east' }, async () => {
          await webOver(testbed, spreadOver('region', 2, 2), spreadOver('cluster', 2, 2))
          await placedWhere(testbed, DEPLOYMENTS, 'web', (shares) => Object.keys(shares).length === 2 && 'member3' in shares)
        })
      },
    },
    {
      name: 'more regions than there are: the binding says so',
      async run(testbed) {
        await webOver(testbed, spreadOver('region', 4, 4), spreadOver('cluster', 4, 4))
        const message = 'failed to select clusters: the number of feasible region is less than spreadConstraint.MinGroups'
        await says(testbed, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'SchedulerError', message })
      },
    },
    {
      name: 'a cluster without a region is not asked, and is told of as such',
      alone: true,
      async run(testbed) {
        const [, , member3] = testbed.members
        await whileCluster(testbed, member3, { region: null }, async () => {
          const spreadConstraints = [spreadOver('region', 1, 1), spreadOver('cluster', 1, 1)]
          await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...on(member3), spreadConstraints }))
          await testbed.hub.create(aDeployment('web', { replicas: 2 }))
          const others = '2 cluster(s) did not match the placement cluster affinity constraint'
          const message = `0/3 clusters are available: 1 cluster(s) did not have region property, ${others}.`
          await says(testbed, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
        })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member3: 2 })
      },
    },
  ],
}
