/** Taints that keep work away from clusters, and work that does not mind. */
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isPlaced, isScheduled, says } from '../bindings.ts'
import { whileCluster } from '../clusters.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetStage } from '../story.ts'

const DEDICATED = { key: 'dedicated', value: 'batch', effect: 'NoSchedule' }

const tainted = (stage: FleetStage, work: () => Promise<void>): Promise<void> =>
  whileCluster(stage, stage.members[0], { taints: [DEDICATED] }, work)

async function web(stage: FleetStage, clusterTolerations?: unknown[], name = 'web'): Promise<void> {
  const placement = { ...on(...stage.members), ...(clusterTolerations === undefined ? {} : { clusterTolerations }) }
  await stage.hub.create(aPropagationPolicy(name, [deploymentsNamed(name)], placement))
  await stage.hub.create(aDeployment(name, { replicas: 1 }))
}

export const taintToleration: FleetArea = {
  name: 'taints and tolerations',
  stories: [
    {
      name: 'a cluster with a taint gets nothing that does not tolerate it, until the taint is gone',
      alone: true,
      async run(stage) {
        await tainted(stage, async () => {
          await web(stage)
          await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 1, member3: 1 })
        })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 1, member2: 1, member3: 1 })
      },
    },
    {
      name: 'a toleration of this key and value lets it come, another value does not',
      alone: true,
      async run(stage) {
        await tainted(stage, async () => {
          const equal = (value: string) => ({ key: 'dedicated', operator: 'Equal', value, effect: 'NoSchedule' })
          await web(stage, [equal('batch')])
          await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 1, member2: 1, member3: 1 })
          await web(stage, [equal('web')], 'other')
          await isPlaced(stage, DEPLOYMENTS, 'other', { member2: 1, member3: 1 })
        })
      },
    },
    {
      name: 'a toleration of whatever is under a key lets it come',
      alone: true,
      async run(stage) {
        await tainted(stage, async () => {
          await web(stage, [{ key: 'dedicated', operator: 'Exists' }])
          await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 1, member2: 1, member3: 1 })
        })
      },
    },
    {
      name: 'NoSchedule leaves what is already there',
      alone: true,
      async run(stage) {
        await web(stage)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 1, member2: 1, member3: 1 })
        await tainted(stage, async () => {
          await stage.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 2 } })
          await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
        })
      },
    },
    {
      name: 'only a tainted cluster is asked for: the binding names the taint',
      alone: true,
      async run(stage) {
        await tainted(stage, async () => {
          await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(stage.members[0])))
          await stage.hub.create(aDeployment('web', { replicas: 1 }))
          const others = '2 cluster(s) did not match the placement cluster affinity constraint'
          const message = `0/3 clusters are available: 1 cluster(s) had untolerated taint {dedicated=batch:NoSchedule}, ${others}.`
          await says(stage, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
        })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 1 })
        await isScheduled(stage, DEPLOYMENTS, 'web')
      },
    },
  ],
}
