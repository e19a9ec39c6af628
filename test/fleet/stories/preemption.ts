/** Policies that take templates from others: by priority, and the namespace before the cluster. */

import assert from 'node:assert/strict'
import { CLUSTER_PROPAGATION_POLICIES, PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { eventAppears, isClaimed, isOnlyIn, leaves, refusalOf } from '../expectations.ts'
import { aClusterPropagationPolicy, aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'

const WEB = [deploymentsNamed('web')]
const takes = { preemption: 'Always' }
const webOf = ({ namespace }: FleetTestbed) => [{ ...deploymentsNamed('web'), namespace }]

export const preemption: FleetArea = {
  name: 'preemption',
  stories: [
    {
      name: 'a policy of higher priority takes a template from another of its namespace, and moves it',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('low', WEB, on(member1), { priority: 1 }))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.create(aPropagationPolicy('high', WEB, on(member2), { priority: 2, ...takes }))
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'high' })
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
        await eventAppears(testbed, 'PreemptPolicySucceed', /./)
      },
    },
    {
      name: 'one of the same priority takes nothing',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('b', WEB, on(member1), { priority: 2 }))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.create(aPropagationPolicy('a', WEB, on(member2), { priority: 2, ...takes }))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'b' })
      },
    },
    {
      name: 'a policy of the namespace takes a template from one of the cluster, whatever the priorities',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('wide'), webOf(testbed), on(member1), { priority: 9 }))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.create(aPropagationPolicy('near', WEB, on(member2), { priority: 1, ...takes }))
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'near' })
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'a policy of the cluster takes a template from one of lower priority, never from one of the namespace',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const [low, high] = [testbed.unique('low'), testbed.unique('high')]
        await testbed.hub.create(aClusterPropagationPolicy(low, webOf(testbed), on(member1), { priority: 1 }))
        await testbed.hub.create(aPropagationPolicy('near', [deploymentsNamed('other')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await testbed.hub.create(aDeployment('other'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'other', [member1])
        const both = ['web', 'other'].map((name) => ({ ...deploymentsNamed(name), namespace: testbed.namespace }))
        await testbed.hub.create(aClusterPropagationPolicy(high, both, on(member2), { priority: 5, ...takes }))
        await isClaimed(testbed, DEPLOYMENTS, 'web', { clusterPolicy: high })
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
        await isOnlyIn(testbed, DEPLOYMENTS, 'other', [member1])
        await isClaimed(testbed, DEPLOYMENTS, 'other', { policy: 'near' })
      },
    },
    {
      name: 'a policy of the namespace that lowers its priority loses to the next that takes',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('first', WEB, on(member1), { priority: 10, ...takes }))
        await testbed.hub.create(aPropagationPolicy('second', WEB, on(member2), { priority: 5, ...takes }))
        await testbed.settle()
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'first', { spec: { priority: 1 } })
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'second' })
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'a policy of the cluster that lowers its priority loses to the highest that takes',
      async run(testbed) {
        const [member1, member2, member3] = testbed.members
        const [first, second, third] = ['first', 'second', 'third'].map(testbed.unique) as [string, string, string]
        await testbed.hub.create(aClusterPropagationPolicy(first, webOf(testbed), on(member1), { priority: 10, ...takes }))
        await testbed.hub.create(aClusterPropagationPolicy(second, webOf(testbed), on(member2), { priority: 5, ...takes }))
        await testbed.hub.create(aClusterPropagationPolicy(third, webOf(testbed), on(member3), { priority: 7, ...takes }))
        await testbed.settle()
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.patch(CLUSTER_PROPAGATION_POLICIES, first, { spec: { priority: 1 } })
        await isClaimed(testbed, DEPLOYMENTS, 'web', { clusterPolicy: third })
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member3])
      },
    },
    {
      name: 'a policy may begin to take when it is edited',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('low', WEB, on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.create(aPropagationPolicy('high', WEB, on(member2), { priority: 2 }))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'high', { spec: takes })
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'high' })
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'who takes must name what it takes',
      async run(testbed) {
        const all = aPropagationPolicy('all', [{ apiVersion: 'apps/v1', kind: 'Deployment' }], {}, takes)
        assert.match(await refusalOf(testbed.hub.create(all)), /name/)
      },
    },
  ],
}
