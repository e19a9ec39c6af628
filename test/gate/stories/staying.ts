/** Running work stays where it is: nothing that somebody does to claims, templates, policies or bindings moves it without need. */
import assert from 'node:assert/strict'
import { CLUSTERS, PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS } from '../../../src/kinds/volcano/resources.ts'
import { PLACEMENT_INJECTED } from '../../../src/kinds/volcano/well-known.ts'
import { HELD_BECAUSE, HELD_BY, HELD_REASON, RELEASED } from '../../../src/runtime/seams/narrowing.ts'
import { bindingOf, isPlaced } from '../../fleet/bindings.ts'
import { clusterNamed, relabel } from '../../fleet/clusters.ts'
import { reaches } from '../../fleet/expectations.ts'
import { on } from '../../fleet/manifests.ts'
import type { FleetArea, FleetTestbed, Place } from '../../fleet/story.ts'
import { labelled } from '../../fleet/workloads.ts'
import { footprintOf, isBoundTo, isHeld, isPending, isReleased, isSatisfied, waitsFor, whereaboutsOf } from '../expectations.ts'
import { aClaim, aSource, aWorkload, moveData, running, submit } from '../manifests.ts'

const BINDING = 'report-deployment'

async function unjoin(testbed: FleetTestbed, { name }: Place): Promise<() => Promise<void>> {
  const { apiVersion, kind, metadata, spec } = await clusterNamed(testbed, name)
  await testbed.hub.delete(CLUSTERS, name)
  await testbed.until(`${name} unjoined`, async () => (await testbed.hub.get(CLUSTERS, name)) === undefined)
  return async () => {
    await testbed.hub.create({ apiVersion, kind, metadata: { name, labels: metadata.labels }, spec })
  }
}

export const staying: FleetArea = {
  name: 'running work stays',
  stories: [
    {
      name: 'D1: a restart, and an edit of a claim that changes nothing, leave bindings and pods alone, and held work held',
      alone: 'restored',
      async run(testbed) {
        const [, member2] = testbed.members
        await running(testbed, { places: [member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const other = aWorkload('other')
        await testbed.hub.create(aClaim(testbed, 'stock', other))
        await submit(testbed, other)
        await isHeld(testbed, DEPLOYMENTS, 'other', { reason: 'NoSuchSource' })
        const before = await footprintOf(testbed, 'report')
        await testbed.restart()
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
        await isHeld(testbed, DEPLOYMENTS, 'other', { reason: 'NoSuchSource' })
        await testbed.hub.patch(DATA_SOURCE_CLAIMS, 'sales', { metadata: { labels: { team: 'a' } } })
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
        await isSatisfied(testbed, 'sales')
      },
    },
    {
      name: 'D2: a changed template and a changed policy keep the narrowing, and the work stays',
      async run(testbed) {
        const [, member2] = testbed.members
        await running(testbed, { places: [member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await whereaboutsOf(testbed, 'report')
        await testbed.hub.patch(DEPLOYMENTS, 'report', { metadata: { labels: { tier: 'gold' } } })
        await reaches(testbed, DEPLOYMENTS, 'report', [member2], ({ metadata }) => metadata.labels?.tier === 'gold')
        await testbed.hub.patch(PROPAGATION_POLICIES, 'report', {
          spec: { conflictResolution: 'Overwrite', placement: { clusterAffinity: { exclude: ['member3'] } } },
        })
        await testbed.until('the policy in the binding', async () => {
          return (await bindingOf(testbed, DEPLOYMENTS, 'report'))?.spec.conflictResolution === 'Overwrite'
        })
        assert.deepEqual(await whereaboutsOf(testbed, 'report'), before)
        assert.deepEqual((await bindingOf(testbed, DEPLOYMENTS, 'report'))?.spec.placement?.clusterAffinity, {
          clusterNames: ['member2'],
          exclude: ['member3'],
        })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
      },
    },
    {
      name: 'D25: the order in which a source lists its clusters changes not a byte',
      async run(testbed) {
        const [member1, member2, member3] = testbed.members
        await running(testbed, { places: [member3, member1, member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member1: 1, member2: 1, member3: 1 })
        const before = await footprintOf(testbed, 'report')
        await moveData(testbed, 'sales', [member2, member3, member1])
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
        await testbed.hub.patch(DEPLOYMENTS, 'report', { metadata: { labels: { tier: 'gold' } } })
        await reaches(testbed, DEPLOYMENTS, 'report', testbed.members, ({ metadata }) => metadata.labels?.tier === 'gold')
        const { placement } = (await footprintOf(testbed, 'report')) as { placement: unknown }
        assert.deepEqual(JSON.stringify(placement), JSON.stringify((before as { placement: unknown }).placement))
      },
    },
    {
      name: 'D6, drill 6: a cluster that joins later is closed to it, and opens for data that is there',
      alone: true,
      needs: 'pods', // namespaces of the member that leaves are deleted only where a controller does it
      async run(testbed) {
        const [member1, , member3] = testbed.members
        const join = await unjoin(testbed, member3)
        await running(testbed, { places: [member1] })
        const other = aWorkload('other')
        await testbed.hub.create(aSource(testbed, 'stock', [member3]))
        await testbed.hub.create(aClaim(testbed, 'stock', other))
        await submit(testbed, other)
        await isReleased(testbed, DEPLOYMENTS, 'report', { member1: 1 }, { allow: ['member1'] })
        await isHeld(testbed, DEPLOYMENTS, 'other', { reason: 'NoLocality' })
        await waitsFor(testbed, 'stock', 'NoLocality')
        const before = await footprintOf(testbed, 'report')
        await join()
        await isReleased(testbed, DEPLOYMENTS, 'other', { member3: 1 }, { allow: ['member3'] })
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
      },
    },
    {
      name: 'D6: a cluster that the policy comes to select later is closed to it',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const key = testbed.unique('web')
        await relabel(testbed, member1, { [key]: 'yes' })
        await running(testbed, { places: [member1], placement: labelled({ [key]: 'yes' }) })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member1: 1 })
        const before = await footprintOf(testbed, 'report')
        await relabel(testbed, member2, { [key]: 'yes' })
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
      },
    },
    {
      name: 'R5, drill 7: somebody else writes the placement of the binding: it is repaired, and nothing moves',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await running(testbed, { places: [member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await whereaboutsOf(testbed, 'report')
        const narrowed = (await bindingOf(testbed, DEPLOYMENTS, 'report'))?.spec.placement
        for (const clusterAffinity of [null, { clusterNames: [member1.name] }, { clusterNames: [member1.name, member2.name] }]) {
          await testbed.hub.patch(RESOURCE_BINDINGS, BINDING, { spec: { placement: { clusterAffinity } } })
          await testbed.until('the placement repaired', async () => {
            const { placement } = (await bindingOf(testbed, DEPLOYMENTS, 'report'))?.spec ?? {}
            return JSON.stringify(placement) === JSON.stringify(narrowed)
          })
          assert.deepEqual(await whereaboutsOf(testbed, 'report'), before)
        }
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
      },
    },
    {
      name: 'R5: marks that somebody takes off a binding come back, and neither open the gate nor close it for ever',
      async run(testbed) {
        const [, member2] = testbed.members
        const workload = aWorkload()
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await submit(testbed, workload)
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchSource' })
        for (const mark of [HELD_BECAUSE, HELD_REASON, HELD_BY]) {
          await testbed.hub.patch(RESOURCE_BINDINGS, BINDING, { metadata: { annotations: { [mark]: null } } })
          await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchSource' })
        }
        await testbed.hub.patch(RESOURCE_BINDINGS, BINDING, { spec: { suspension: null } })
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchSource' })
        await testbed.hub.create(aSource(testbed, 'sales', [member2]))
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await whereaboutsOf(testbed, 'report')
        await testbed.hub.patch(RESOURCE_BINDINGS, BINDING, { metadata: { annotations: { [PLACEMENT_INJECTED]: null, [RELEASED]: null } } })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
        assert.deepEqual(await whereaboutsOf(testbed, 'report'), before)
      },
    },
    {
      name: 'R5: scheduling that somebody else has suspended stays suspended when the data comes, until they resume it',
      async run(testbed) {
        const [, member2, member3] = testbed.members
        const workload = aWorkload()
        await submit(testbed, workload, on(member2, member3))
        await isPlaced(testbed, DEPLOYMENTS, 'report', { member2: 1, member3: 1 })
        await testbed.hub.patch(RESOURCE_BINDINGS, BINDING, { spec: { suspension: { scheduling: true } } })
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await isPending(testbed, 'sales', 'NoSuchSource')
        await testbed.hub.create(aSource(testbed, 'sales', [member2]))
        await isBoundTo(testbed, 'sales', testbed.unique('sales'))
        await testbed.settle()
        await isPlaced(testbed, DEPLOYMENTS, 'report', { member2: 1, member3: 1 })
        assert.equal((await bindingOf(testbed, DEPLOYMENTS, 'report'))?.spec.suspension?.scheduling, true)
        await testbed.hub.patch(RESOURCE_BINDINGS, BINDING, { spec: { suspension: null } })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
      },
    },
  ],
}
