/** What is decided anew when clusters change, and what is not. */
import assert from 'node:assert/strict'
import { executionNamespace, workName } from '../../../src/kinds/karmada/names.ts'
import { CLUSTERS, RESOURCE_BINDINGS, WORKS } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isConditionTrue } from '../../../src/kube/conditions.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { bindingOf, isIn, isPlaced, isScheduled, says, sharesOf } from '../bindings.ts'
import { clusterNamed, relabel } from '../clusters.ts'
import { reaches, workOf } from '../looks.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import { bringToMembers, kindOfTheHub } from '../own-kind.ts'
import type { FleetArea, FleetStage, Place } from '../story.ts'
import { labelled, weighted } from '../workloads.ts'

/** A Cluster as a person would write it again. */
async function manifestOf(stage: FleetStage, { name }: Place): Promise<KubeObject> {
  const { apiVersion, kind, metadata, spec } = await clusterNamed(stage, name)
  return { apiVersion, kind, metadata: { name, labels: metadata.labels }, spec }
}

async function unjoin(stage: FleetStage, { name }: Place): Promise<void> {
  await stage.hub.delete(CLUSTERS, name)
  await stage.until(`${name} unjoined`, async () => (await stage.hub.get(CLUSTERS, name)) === undefined)
}

async function join(stage: FleetStage, cluster: KubeObject): Promise<void> {
  await stage.hub.create(cluster)
  const { name = '' } = cluster.metadata
  await stage.until(`${name} ready`, async () => isConditionTrue((await clusterNamed(stage, name)).status?.conditions, 'Ready'))
}

export const rescheduling: FleetArea = {
  name: 'rescheduling',
  stories: [
    {
      name: 'a label that comes brings the work, and one that goes takes it away',
      async run(stage) {
        const [member1, member2] = stage.members
        const key = stage.unique('web')
        await relabel(stage, member1, { [key]: 'yes' })
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], labelled({ [key]: 'yes' })))
        await stage.hub.create(aDeployment('web'))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2 })
        await relabel(stage, member2, { [key]: 'yes' })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 2 })
        await relabel(stage, member1, { [key]: null })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 2 })
      },
    },
    {
      name: 'replicas that are divided stay where they are when another cluster gets the label, until somebody asks',
      async run(stage) {
        const [member1, member2] = stage.members
        const key = stage.unique('web')
        await relabel(stage, member1, { [key]: 'yes' })
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...labelled({ [key]: 'yes' }), ...weighted() }))
        await stage.hub.create(aDeployment('web', { replicas: 4 }))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 4 })
        await isScheduled(stage, DEPLOYMENTS, 'web')
        await relabel(stage, member2, { [key]: 'yes' })
        await stage.settle()
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 4 })
        const lastMs = Date.parse((await bindingOf(stage, DEPLOYMENTS, 'web'))?.status?.lastScheduledTime ?? '')
        const rescheduleTriggeredAt = new Date(lastMs + 1000).toISOString().replace(/\.\d+/, '')
        await stage.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { rescheduleTriggeredAt } })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 2 })
      },
    },
    {
      name: 'a kind that a cluster begins to serve ends the wait',
      async run(stage) {
        const boats = await kindOfTheHub(stage)
        const boat = boats.make('ferry')
        await stage.hub.create(aPropagationPolicy('ferry', [selectorOf(boat)], on(...stage.members)))
        await stage.hub.create(boat, boats.resource)
        const message = '0/3 clusters are available: 3 cluster(s) did not have the API resource.'
        await says(stage, boats.resource, 'ferry', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
        await bringToMembers(stage, boats)
        await isIn(stage, boats.resource, 'ferry', stage.members)
        await isScheduled(stage, boats.resource, 'ferry')
      },
    },
    {
      name: 'a cluster that is unjoined hands its work to those that remain',
      alone: true,
      needs: 'pods', // namespaces of the member that leaves go only where somebody takes them away
      async run(stage) {
        const [, , member3] = stage.members
        const cluster = await manifestOf(stage, member3)
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...on(...stage.members), ...weighted() }))
        await stage.hub.create(aDeployment('web', { replicas: 6 }))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
        await unjoin(stage, member3)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 3, member2: 3 })
        await join(stage, cluster)
      },
    },
    {
      name: 'no cluster fits until one is joined',
      alone: true,
      needs: 'pods', // namespaces of the member that leaves go only where somebody takes them away
      async run(stage) {
        const [, , member3] = stage.members
        const cluster = await manifestOf(stage, member3)
        await unjoin(stage, member3)
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member3)))
        await stage.hub.create(aDeployment('web'))
        const message = '0/2 clusters are available: 2 cluster(s) did not match the placement cluster affinity constraint.'
        await says(stage, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
        await join(stage, cluster)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member3: 2 })
        await isScheduled(stage, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'scheduling that is suspended waits, and goes on when it is not',
      async run(stage) {
        const [member1, member2] = stage.members
        const key = stage.unique('web')
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], labelled({ [key]: 'yes' })))
        await stage.hub.create(aDeployment('web'))
        await stage.until('a binding', async () => (await bindingOf(stage, DEPLOYMENTS, 'web')) !== undefined)
        await stage.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { suspension: { scheduling: true } } })
        await relabel(stage, member1, { [key]: 'yes' })
        await stage.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 3 } })
        await stage.until('the new count in the binding', async () => (await bindingOf(stage, DEPLOYMENTS, 'web'))?.spec.replicas === 3)
        await stage.settle()
        assert.deepEqual(sharesOf(await bindingOf(stage, DEPLOYMENTS, 'web')), {})
        await stage.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { suspension: { scheduling: false } } })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 3 })
        await stage.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { suspension: { scheduling: true } } })
        await relabel(stage, member2, { [key]: 'yes' })
        await stage.settle()
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 3 })
      },
    },
    {
      name: 'a Work that is deleted by hand is made again',
      async run(stage) {
        const [member1] = stage.members
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await stage.hub.create(aDeployment('web'))
        await reaches(stage, DEPLOYMENTS, 'web', [member1])
        const uid = (await workOf(stage, member1, 'Deployment', 'web'))?.metadata.uid
        await stage.hub.delete(WORKS, workName('Deployment', 'web', stage.namespace), { namespace: executionNamespace(member1.name) })
        await stage.until('another Work', async () => {
          const now = (await workOf(stage, member1, 'Deployment', 'web'))?.metadata.uid
          return now !== undefined && now !== uid
        })
        await reaches(stage, DEPLOYMENTS, 'web', [member1])
      },
    },
  ],
}
