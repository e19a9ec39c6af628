/** Clusters chosen by what they are: provider, region and zone. */
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isPlaced, says } from '../bindings.ts'
import { whileCluster } from '../clusters.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed } from '../manifests.ts'
import type { FleetArea, FleetStage } from '../story.ts'

type Operator = 'In' | 'NotIn'

const where = (key: 'provider' | 'region' | 'zone', operator: Operator, values: readonly string[]): Record<string, unknown> => ({
  clusterAffinity: { fieldSelector: { matchExpressions: [{ key, operator, values }] } },
})

async function webWhere(stage: FleetStage, placement: Record<string, unknown>): Promise<void> {
  await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
  await stage.hub.create(aDeployment('web', { replicas: 1 }))
}

export const fieldSelector: FleetArea = {
  name: 'field selector',
  stories: [
    {
      name: 'clusters of a provider, and those of all others',
      alone: true,
      async run(stage) {
        await whileCluster(stage, stage.members[1], { provider: 'another' }, async () => {
          await webWhere(stage, where('provider', 'In', ['another']))
          await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 1 })
          await stage.hub.create(aPropagationPolicy('api', [deploymentsNamed('api')], where('provider', 'NotIn', ['another'])))
          await stage.hub.create(aDeployment('api', { replicas: 1 }))
          await isPlaced(stage, DEPLOYMENTS, 'api', { member1: 1, member3: 1 })
        })
      },
    },
    {
      name: 'clusters of regions',
      async run(stage) {
        await webWhere(stage, where('region', 'In', ['east', 'north']))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 1, member3: 1 })
      },
    },
    {
      name: 'clusters outside of a region',
      async run(stage) {
        await webWhere(stage, where('region', 'NotIn', ['east']))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 1, member3: 1 })
      },
    },
    {
      name: 'clusters that have one of the zones, as long as they have it',
      alone: true,
      async run(stage) {
        await webWhere(stage, where('zone', 'In', ['east-b', 'west-a']))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 1 })
        await whileCluster(stage, stage.members[0], { zones: ['east-a', 'east-b'] }, () =>
          isPlaced(stage, DEPLOYMENTS, 'web', { member1: 1, member2: 1 }),
        )
        await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 1 })
      },
    },
    {
      name: 'a region that no cluster is in: the binding says that none fits',
      async run(stage) {
        await webWhere(stage, where('region', 'In', ['south']))
        const message = '0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.'
        await says(stage, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
      },
    },
  ],
}
