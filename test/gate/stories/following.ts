/** A workload waits until its data is known, and goes where the data is, whatever its policy looks like. */
import assert from 'node:assert/strict'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { bindingOf, type Shares } from '../../fleet/bindings.ts'
import { eventAppears } from '../../fleet/expectations.ts'
import type { FleetArea, FleetStory } from '../../fleet/story.ts'
import { AGGREGATED, DUPLICATED, weighted } from '../../fleet/workloads.ts'
import { isBoundTo, isHeld, isPending, isReleased, isSatisfied, isUsedBy } from '../expectations.ts'
import { aClaim, aSource, aWorkload, submit } from '../manifests.ts'

type Fields = Record<string, unknown>

interface Form {
  /** How the replicas are scheduled, and what the policy says of clusters. */
  name: string
  placement: Fields
  /** What becomes of the affinities. */
  narrowed: Fields
  shares: Shares
}

const near = { affinityName: 'near', clusterNames: ['member1'] }
const far = { affinityName: 'far', clusterNames: ['member1', 'member2'] }
const closed = { affinityName: 'near', clusterNames: ['(no cluster is allowed)'] }

/** The data is in member2 and member3. */
const FORMS: readonly Form[] = [
  {
    name: 'Duplicated, one affinity',
    placement: { ...DUPLICATED, clusterAffinity: { clusterNames: ['member1', 'member2'] } },
    narrowed: { clusterAffinity: { clusterNames: ['member2'] } },
    shares: { member2: 2 },
  },
  {
    name: 'Divided, one affinity',
    placement: { ...weighted(), clusterAffinity: { exclude: ['member3'] } },
    narrowed: { clusterAffinity: { clusterNames: ['member2', 'member3'], exclude: ['member3'] } },
    shares: { member2: 2 },
  },
  {
    name: 'Duplicated, groups of affinities',
    placement: { ...DUPLICATED, clusterAffinities: [near, far] },
    narrowed: { clusterAffinities: [closed, { ...far, clusterNames: ['member2'] }] },
    shares: { member2: 2 },
  },
  {
    name: 'Divided, groups of affinities with overflow',
    placement: {
      ...AGGREGATED,
      clusterAffinities: [{ ...near, overflowAffinities: [far, { affinityName: 'last', clusterNames: ['member1', 'member3'] }] }],
    },
    narrowed: {
      clusterAffinities: [
        {
          ...closed,
          overflowAffinities: [
            { ...far, clusterNames: ['member2'] },
            { affinityName: 'last', clusterNames: ['member3'] },
          ],
        },
      ],
    },
    shares: { member2: 2 },
  },
  {
    name: 'Duplicated, no affinity',
    placement: DUPLICATED,
    narrowed: { clusterAffinity: { clusterNames: ['member2', 'member3'] } },
    shares: { member2: 2, member3: 2 },
  },
  {
    name: 'Divided, no affinity',
    placement: weighted(),
    narrowed: { clusterAffinity: { clusterNames: ['member2', 'member3'] } },
    shares: { member2: 1, member3: 1 },
  },
]

const decided = ({ name, placement, narrowed, shares }: Form): FleetStory => ({
  name: `D5: whatever the policy looks like, the data decides: ${name}`,
  async run(testbed) {
    const [, member2, member3] = testbed.members
    const workload = aWorkload('report', { replicas: 2 })
    await testbed.hub.create(aClaim(testbed, 'sales', workload))
    await submit(testbed, workload, placement)
    await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchSource' })
    await testbed.hub.create(aSource(testbed, 'sales', [member3, member2]))
    await isReleased(testbed, DEPLOYMENTS, 'report', shares, { allow: ['member2', 'member3'] })
    const { clusterAffinity, clusterAffinities } = (await bindingOf(testbed, DEPLOYMENTS, 'report'))?.spec.placement ?? {}
    assert.deepEqual({ ...(clusterAffinity && { clusterAffinity }), ...(clusterAffinities && { clusterAffinities }) }, narrowed)
    await isSatisfied(testbed, 'sales')
  },
})

export const following: FleetArea = {
  name: 'following data',
  stories: [
    {
      name: 'a workload waits for data that is not there yet, says what for, and goes to where it appears',
      async run(testbed) {
        const [, member2] = testbed.members
        const workload = aWorkload()
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await submit(testbed, workload)
        await isHeld(testbed, DEPLOYMENTS, 'report', {
          reason: 'NoSuchSource',
          message: /^claim sales: there is no DataSource for hive\/table\/sales-/,
        })
        await isPending(testbed, 'sales', 'NoSuchSource')
        await eventAppears(testbed, 'Held', /claim sales: there is no DataSource/, undefined, 'report')
        await testbed.hub.create(aSource(testbed, 'sales', [member2]))
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
        await isBoundTo(testbed, 'sales', testbed.unique('sales'))
        await isSatisfied(testbed, 'sales')
        await isUsedBy(testbed, 'sales', ['sales'])
        await eventAppears(testbed, 'Bound', /DataSource sales-.* is bound/, undefined, 'sales')
        await eventAppears(testbed, 'Released', /./, undefined, 'report')
      },
    },
    ...FORMS.map(decided),
  ],
}
