/** Workloads with more than one claim: all of them must be met, and what is left is where all of the data is. */
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { DATA_SOURCES } from '../../../src/kinds/volcano/resources.ts'
import { isPlaced } from '../../fleet/bindings.ts'
import { on } from '../../fleet/manifests.ts'
import type { FleetArea } from '../../fleet/story.ts'
import { isBoundTo, isHeld, isReleased, isSatisfied, waitsFor } from '../expectations.ts'
import { aClaim, aSource, aWorkload, moveData, running, submit } from '../manifests.ts'

export const severalClaims: FleetArea = {
  name: 'several claims',
  stories: [
    {
      name: 'D4: with two claims both must be met, and only the clusters with both kinds of data are left',
      async run(testbed) {
        const [member1, member2, member3] = testbed.members
        const workload = aWorkload()
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await testbed.hub.create(aClaim(testbed, 'stock', workload))
        await submit(testbed, workload)
        await testbed.hub.create(aSource(testbed, 'sales', [member1, member2]))
        await isBoundTo(testbed, 'sales', testbed.unique('sales'))
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchSource', message: /^claim stock: / })
        await testbed.hub.create(aSource(testbed, 'stock', [member2, member3]))
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
        await isSatisfied(testbed, 'sales')
        await isSatisfied(testbed, 'stock')
      },
    },
    {
      name: 'drill 3: two claims without a common cluster: both sets are shown, and it goes when one of them grows',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const workload = aWorkload()
        await testbed.hub.create(aClaim(testbed, 'stock', workload))
        await testbed.hub.create(aSource(testbed, 'stock', [member2]))
        await running(testbed, { workload, places: [member1] })
        const message = /claim sales \(source sales-\S+: member1\) and claim stock \(source stock-\S+: member2\)/
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoCommonCluster', message })
        await waitsFor(testbed, 'sales', 'NoCommonCluster', message)
        await waitsFor(testbed, 'stock', 'NoCommonCluster', message)
        await moveData(testbed, 'stock', [member2, member1])
        await isReleased(testbed, DEPLOYMENTS, 'report', { member1: 1 }, { allow: ['member1'] })
        await isSatisfied(testbed, 'stock')
      },
    },
    {
      name: 'D7: a policy without a cluster of the data: the claim says so, with what the policy allows',
      async run(testbed) {
        const [member1, member2, member3] = testbed.members
        await running(testbed, { places: [member1], placement: on(member2, member3) })
        const message = /claim sales \(source sales-\S+: member1\) and the policy report \(member2, member3\)/
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoCommonCluster', message })
        await waitsFor(testbed, 'sales', 'NoCommonCluster', message)
        await moveData(testbed, 'sales', [member3])
        await isReleased(testbed, DEPLOYMENTS, 'report', { member3: 1 }, { allow: ['member3'] })
      },
    },
    {
      name: 'D7: data in clusters that do not exist: the claim says so',
      async run(testbed) {
        const [member1] = testbed.members
        await running(testbed, { places: [{ name: 'atlantis' }] })
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoLocality', message: /atlantis/ })
        await waitsFor(testbed, 'sales', 'NoLocality', /no cluster of DataSource sales-\S+ is joined: atlantis/)
        await moveData(testbed, 'sales', [{ name: 'atlantis' }, member1])
        await isReleased(testbed, DEPLOYMENTS, 'report', { member1: 1 })
      },
    },
    {
      name: 'of two sources with the same data, the one that shares a cluster with the policy is taken, though it is younger',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const workload = aWorkload()
        await submit(testbed, workload, on(member2))
        await isPlaced(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const spec = { name: testbed.unique('sales') }
        await testbed.hub.create(aSource(testbed, 'a', [member1], { spec }))
        await testbed.hub.create(aSource(testbed, 'b', [member2], { spec }))
        await testbed.settle()
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await isBoundTo(testbed, 'sales', testbed.unique('b'))
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
        // A claim that is bound stays bound, even if a better source comes.
        await testbed.hub.create(aSource(testbed, '0', [member2, member1], { spec }))
        await testbed.settle()
        await isBoundTo(testbed, 'sales', testbed.unique('b'))
        await testbed.hub.delete(DATA_SOURCES, testbed.unique('b'))
        await isBoundTo(testbed, 'sales', testbed.unique('0'))
      },
    },
  ],
}
