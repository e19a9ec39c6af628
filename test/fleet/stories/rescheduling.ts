/** What is scheduled again when clusters change, and what is not. */
import assert from 'node:assert/strict'
import { executionNamespace, workName } from '../../../src/kinds/karmada/names.ts'
import { CLUSTERS, RESOURCE_BINDINGS, WORKS } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isConditionTrue } from '../../../src/kube/conditions.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { bindingOf, isIn, isPlaced, isScheduled, says, sharesOf } from '../bindings.ts'
import { clusterNamed, relabel } from '../clusters.ts'
import { reaches, workOf } from '../expectations.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import { bringToMembers, kindOfTheHub } from '../own-kind.ts'
import type { FleetArea, FleetTestbed, Place } from '../story.ts'
import { labelled, weighted } from '../workloads.ts'

/** A Cluster as a user would write it again. */
async function manifestOf(testbed: FleetTestbed, { name }: Place): Promise<KubeObject> {
  const { apiVersion, kind, metadata, spec } = await clusterNamed(testbed, name)
  return { apiVersion, kind, metadata: { name, labels: metadata.labels }, spec }
}

async function unjoin(testbed: FleetTestbed, { name }: Place): Promise<void> {
  await testbed.hub.delete(CLUSTERS, name)
  await testbed.until(`${name} unjoined`, async () => (await testbed.hub.get(CLUSTERS, name)) === undefined)
}

async function join(testbed: FleetTestbed, cluster: KubeObject): Promise<void> {
  await testbed.hub.create(cluster)
  const { name = '' } = cluster.metadata
  await testbed.until(`${name} ready`, async () => isConditionTrue((await clusterNamed(testbed, name)).status?.conditions, 'Ready'))
}

export const rescheduling: FleetArea = {
  name: 'rescheduling',
  stories: [
    {
      name: 'a label that comes brings the work, and one that goes takes it away',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const key = testbed.unique('web')
        await relabel(testbed, member1, { [key]: 'yes' })
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], labelled({ [key]: 'yes' })))
        await testbed.hub.create(aDeployment('web'))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2 })
        await relabel(testbed, member2, { [key]: 'yes' })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 2 })
        await relabel(testbed, member1, { [key]: null })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 2 })
      },
    },
    {
      name: 'replicas that are divided stay where they are when another cluster gets the label, until somebody asks',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const key = testbed.unique('web')
        await relabel(testbed, member1, { [key]: 'yes' })
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...labelled({ [key]: 'yes' }), ...weighted() }))
        await testbed.hub.create(aDeployment('web', { replicas: 4 }))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 4 })
        await isScheduled(testbed, DEPLOYMENTS, 'web')
        await relabel(testbed, member2, { [key]: 'yes' })
        await testbed.settle()
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 4 })
        const lastMs = Date.parse((await bindingOf(testbed, DEPLOYMENTS, 'web'))?.status?.lastScheduledTime ?? '')
        const rescheduleTriggeredAt = new Date(lastMs + 1000).toISOString().replace(/\.\d+/, '')
        await testbed.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { rescheduleTriggeredAt } })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 2 })
      },
    },
    {
      name: 'a kind that a cluster begins to serve ends the wait',
      async run(testbed) {
        const boats = await kindOfTheHub(testbed)
        const boat = boats.make('ferry')
        await testbed.hub.create(aPropagationPolicy('ferry', [selectorOf(boat)], on(...testbed.members)))
        await testbed.hub.create(boat, boats.resource)
        const message = '0/3 clusters are available: 3 cluster(s) did not have the API resource.'
        await says(testbed, boats.resource, 'ferry', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
        await bringToMembers(testbed, boats)
        await isIn(testbed, boats.resource, 'ferry', testbed.members)
        await isScheduled(testbed, boats.resource, 'ferry')
      },
    },
    {
      name: 'a cluster that is unjoined hands its work to those that remain',
      alone: true,
      needs: 'pods', // namespaces of the member that leaves are deleted only where a controller does it
      async run(testbed) {
        const [, , member3] = testbed.members
        const cluster = await manifestOf(testbed, member3)
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...on(...testbed.members), ...weighted() }))
        await testbed.hub.create(aDeployment('web', { replicas: 6 }))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
        await unjoin(testbed, member3)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 3, member2: 3 })
        await join(testbed, cluster)
      },
    },
    {
      name: 'no cluster fits until one is joined',
      alone: true,
      needs: 'pods', // namespaces of the member that leaves are deleted only where a controller does it
      async run(testbed) {
        const [, , member3] = testbed.members
        const cluster = await manifestOf(testbed, member3)
        await unjoin(testbed, member3)
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member3)))
        await testbed.hub.create(aDeployment('web'))
        const message = '0/2 clusters are available: 2 cluster(s) did not match the placement cluster affinity constraint.'
        await says(testbed, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
        await join(testbed, cluster)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member3: 2 })
        await isScheduled(testbed, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'scheduling that is suspended waits, and goes on when it is not',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const key = testbed.unique('web')
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], labelled({ [key]: 'yes' })))
        await testbed.hub.create(aDeployment('web'))
        await testbed.until('a binding', async () => (await bindingOf(testbed, DEPLOYMENTS, 'web')) !== undefined)
        await testbed.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { suspension: { scheduling: true } } })
        await relabel(testbed, member1, { [key]: 'yes' })
        await testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 3 } })
        await testbed.until('the new count in the binding', async () => (await bindingOf(testbed, DEPLOYMENTS, 'web'))?.spec.replicas === 3)
        await testbed.settle()
        assert.deepEqual(sharesOf(await bindingOf(testbed, DEPLOYMENTS, 'web')), {})
        await testbed.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { suspension: { scheduling: false } } })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 3 })
        await testbed.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { suspension: { scheduling: true } } })
        await relabel(testbed, member2, { [key]: 'yes' })
        await testbed.settle()
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 3 })
      },
    },
    {
      name: 'a Work that is deleted by hand is made again',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        const uid = (await workOf(testbed, member1, 'Deployment', 'web'))?.metadata.uid
        await testbed.hub.delete(WORKS, workName('Deployment', 'web', testbed.namespace), { namespace: executionNamespace(member1.name) })
        await testbed.until('another Work', async () => {
          const now = (await workOf(testbed, member1, 'Deployment', 'web'))?.metadata.uid
          return now !== undefined && now !== uid
        })
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
      },
    },
  ],
}
