/** Taints that keep workloads away from clusters, and workloads that tolerate them. */
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isPlaced, isScheduled, says } from '../bindings.ts'
import { whileCluster } from '../clusters.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'

const DEDICATED = { key: 'dedicated', value: 'batch', effect: 'NoSchedule' }

const tainted = (testbed: FleetTestbed, work: () => Promise<void>): Promise<void> =>
  whileCluster(testbed, testbed.members[0], { taints: [DEDICATED] }, work)

async function web(testbed: FleetTestbed, clusterTolerations?: unknown[], name = 'web'): Promise<void> {
  const placement = { ...on(...testbed.members), ...(clusterTolerations === undefined ? {} : { clusterTolerations }) }
  await testbed.hub.create(aPropagationPolicy(name, [deploymentsNamed(name)], placement))
  await testbed.hub.create(aDeployment(name, { replicas: 1 }))
}

export const taintToleration: FleetArea = {
  name: 'taints and tolerations',
  stories: [
    {
      name: 'a cluster with a taint gets nothing that does not tolerate it, until the taint is gone',
      alone: true,
      async run(testbed) {
        await tainted(testbed, async () => {
          await web(testbed)
          await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 1, member3: 1 })
        })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 1, member2: 1, member3: 1 })
      },
    },
    {
      name: 'a toleration of this key and value lets it come, another value does not',
      alone: true,
      async run(testbed) {
        await tainted(testbed, async () => {
          const equal = (value: string) => ({ key: 'dedicated', operator: 'Equal', value, effect: 'NoSchedule' })
          await web(testbed, [equal('batch')])
          await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 1, member2: 1, member3: 1 })
          await web(testbed, [equal('web')], 'other')
          await isPlaced(testbed, DEPLOYMENTS, 'other', { member2: 1, member3: 1 })
        })
      },
    },
    {
      name: 'a toleration of whatever is under a key lets it come',
      alone: true,
      async run(testbed) {
        await tainted(testbed, async () => {
          await web(testbed, [{ key: 'dedicated', operator: 'Exists' }])
          await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 1, member2: 1, member3: 1 })
        })
      },
    },
    {
      name: 'NoSchedule leaves what is already there',
      alone: true,
      async run(testbed) {
        await web(testbed)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 1, member2: 1, member3: 1 })
        await tainted(testbed, async () => {
          await testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 2 } })
          await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
        })
      },
    },
    {
      name: 'only a tainted cluster is asked for: the binding names the taint',
      alone: true,
      async run(testbed) {
        await tainted(testbed, async () => {
          await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(testbed.members[0])))
          await testbed.hub.create(aDeployment('web', { replicas: 1 }))
          const others = '2 cluster(s) did not match the placement cluster affinity constraint'
          const message = `0/3 clusters are available: 1 cluster(s) had untolerated taint {dedicated=batch:NoSchedule}, ${others}.`
          await says(testbed, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
        })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 1 })
        await isScheduled(testbed, DEPLOYMENTS, 'web')
      },
    },
  ],
}
