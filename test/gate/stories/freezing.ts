/** What was allowed when a workload was released stays allowed, until there is a reason to decide again. */
import assert from 'node:assert/strict'
import { PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS } from '../../../src/kinds/volcano/resources.ts'
import { ON_LOCALITY_CHANGE } from '../../../src/kinds/volcano/well-known.ts'
import { bindingOf, isPlaced } from '../../fleet/bindings.ts'
import { whileCluster } from '../../fleet/clusters.ts'
import { eventAppears } from '../../fleet/expectations.ts'
import type { FleetArea, FleetTestbed } from '../../fleet/story.ts'
import { spreadOver } from '../../fleet/workloads.ts'
import { footprintOf, isReleased, isSatisfied } from '../expectations.ts'
import { aClaim, aPolicyFor, aSource, aWorkload, moveData, running } from '../manifests.ts'

const MOVE = { [ON_LOCALITY_CHANGE]: 'Move' }
/** Otherwise a copy comes back to where it was. */
const ONE_CLUSTER = { spreadConstraints: [spreadOver('cluster', 1, 1)] }
const DOWN = { key: 'down', effect: 'NoExecute' }

/** Released to member2, where its data was; then the data moved to member3, and nothing happened. */
async function leftBehind(testbed: FleetTestbed): Promise<void> {
  const [, member2, member3] = testbed.members
  await running(testbed, { places: [member2] })
  await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
  await moveData(testbed, 'sales', [member3])
  await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
}

export const freezing: FleetArea = {
  name: 'what is released is frozen',
  stories: [
    {
      name: 'a second site of the data starts no second copy',
      async run(testbed) {
        const [, member2, member3] = testbed.members
        await running(testbed, { places: [member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await footprintOf(testbed, 'report')
        await moveData(testbed, 'sales', [member2, member3])
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
        await isSatisfied(testbed, 'sales')
        // What is released now may use both.
        const other = aWorkload('other')
        await testbed.hub.create(aClaim(testbed, 'other', other, { spec: { dataSourceName: testbed.unique('sales') } }))
        await testbed.hub.create(aPolicyFor(other))
        await testbed.hub.create(other)
        await isReleased(testbed, DEPLOYMENTS, 'other', { member2: 1, member3: 1 })
      },
    },
    {
      name: 'R4: data that moves does not take running work along, however that grows',
      async run(testbed) {
        const [, member2, member3] = testbed.members
        await running(testbed, { places: [member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await footprintOf(testbed, 'report')
        await moveData(testbed, 'sales', [member3])
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
        await testbed.hub.patch(DEPLOYMENTS, 'report', { spec: { replicas: 3 } })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 3 }, { allow: ['member2'] })
        await isSatisfied(testbed, 'sales')
      },
    },
    {
      name: 'R4: data that moves at the moment of the release: the work is where the data was or is, in one place, and stays',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const workload = aWorkload()
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await testbed.hub.create(workload)
        await testbed.hub.create(aSource(testbed, 'sales', [member1]))
        await Promise.all([testbed.hub.create(aPolicyFor(workload)), moveData(testbed, 'sales', [member2])])
        await testbed.until('a decision', async () => ((await bindingOf(testbed, DEPLOYMENTS, 'report'))?.spec.clusters ?? []).length > 0)
        const before = (await footprintOf(testbed, 'report')) as { clusters: Record<string, number> }
        const [cluster = ''] = Object.keys(before.clusters)
        await isReleased(testbed, DEPLOYMENTS, 'report', { [cluster]: 1 }, { allow: [cluster] })
        await moveData(testbed, 'sales', [member1, member2])
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
        await isSatisfied(testbed, 'sales')
      },
    },
    {
      name: 'a claim that says Move takes running work along, and an event says why',
      async run(testbed) {
        const [, member2, member3] = testbed.members
        await running(testbed, { places: [member2], claim: { annotations: MOVE } })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        await moveData(testbed, 'sales', [member3])
        await isReleased(testbed, DEPLOYMENTS, 'report', { member3: 1 }, { allow: ['member3'] })
        await eventAppears(testbed, 'Narrowed', /claim sales allows only member3: it leaves member2/, undefined, 'report')
        await isSatisfied(testbed, 'sales')
      },
    },
    {
      name: 'a claim that comes to say Move takes along what was left behind',
      async run(testbed) {
        await leftBehind(testbed)
        await testbed.hub.patch(DATA_SOURCE_CLAIMS, 'sales', { metadata: { annotations: MOVE } })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member3: 1 }, { allow: ['member3'] })
      },
    },
    {
      name: 'a changed policy is a reason to decide again',
      async run(testbed) {
        await leftBehind(testbed)
        await testbed.hub.patch(PROPAGATION_POLICIES, 'report', { spec: { placement: { clusterAffinity: { exclude: ['member1'] } } } })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member3: 1 }, { allow: ['member3'] })
      },
    },
    {
      name: 'a request to reschedule is a reason to decide again',
      async run(testbed) {
        await leftBehind(testbed)
        const { lastScheduledTime = '' } = (await bindingOf(testbed, DEPLOYMENTS, 'report'))?.status ?? {}
        const rescheduleTriggeredAt = new Date(Date.parse(lastScheduledTime) + 1000).toISOString().replace(/\.\d+/, '')
        await testbed.hub.patch(RESOURCE_BINDINGS, 'report-deployment', { spec: { rescheduleTriggeredAt } })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member3: 1 }, { allow: ['member3'] })
      },
    },
    {
      name: 'failover is a reason to decide again: the work goes to the second site of its data, and nowhere else',
      alone: true,
      async run(testbed) {
        const [, member2, member3] = testbed.members
        const workload = aWorkload()
        await testbed.hub.create(aSource(testbed, 'sales', [member2]))
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await testbed.hub.create(aPolicyFor(workload, ONE_CLUSTER, { failover: { cluster: { purgeMode: 'Directly' } } }))
        await testbed.hub.create(workload)
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        await moveData(testbed, 'sales', [member2, member3])
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
        await whileCluster(testbed, member2, { taints: [DOWN] }, () => isReleased(testbed, DEPLOYMENTS, 'report', { member3: 1 }))
        await testbed.settle()
        await isPlaced(testbed, DEPLOYMENTS, 'report', { member3: 1 })
        await isSatisfied(testbed, 'sales')
      },
    },
  ],
}
