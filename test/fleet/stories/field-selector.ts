/** Clusters chosen by what they are: provider, region and zone. */
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isPlaced, says } from '../bindings.ts'
import { whileCluster } from '../clusters.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'

type Operator = 'In' | 'NotIn'

const where = (key: 'provider' | 'region' | 'zone', operator: Operator, values: readonly string[]): Record<string, unknown> => ({
  clusterAffinity: { fieldSelector: { matchExpressions: [{ key, operator, values }] } },
})

async function webWhere(testbed: FleetTestbed, placement: Record<string, unknown>): Promise<void> {
  await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
  await testbed.hub.create(aDeployment('web', { replicas: 1 }))
}

export const fieldSelector: FleetArea = {
  name: 'field selector',
  stories: [
    {
      name: 'clusters of a provider, and those of all others',
      alone: true,
      async run(testbed) {
        await whileCluster(testbed, testbed.members[1], { provider: 'another' }, async () => {
          await webWhere(testbed, where('provider', 'In', ['another']))
          await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 1 })
          await testbed.hub.create(aPropagationPolicy('api', [deploymentsNamed('api')], where('provider', 'NotIn', ['another'])))
          await testbed.hub.create(aDeployment('api', { replicas: 1 }))
          await isPlaced(testbed, DEPLOYMENTS, 'api', { member1: 1, member3: 1 })
        })
      },
    },
    {
      name: 'clusters of regions',
      async run(testbed) {
        await webWhere(testbed, where('region', 'In', ['east', 'north']))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 1, member3: 1 })
      },
    },
    {
      name: 'clusters outside of a region',
      async run(testbed) {
        await webWhere(testbed, where('region', 'NotIn', ['east']))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 1, member3: 1 })
      },
    },
    {
      name: 'clusters that have one of the zones, as long as they have it',
      alone: true,
      async run(testbed) {
        await webWhere(testbed, where('zone', 'In', ['east-b', 'west-a']))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 1 })
        await whileCluster(testbed, testbed.members[0], { zones: ['east-a', 'east-b'] }, () =>
          isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 1, member2: 1 }),
        )
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 1 })
      },
    },
    {
      name: 'a region that no cluster is in: the binding says that none fits',
      async run(testbed) {
        await webWhere(testbed, where('region', 'In', ['south']))
        const message = '0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.'
        await says(testbed, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
      },
    },
  ],
}
