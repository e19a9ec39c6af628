/** Policies that take templates from others: by priority, and the namespace before the cluster. */

import assert from 'node:assert/strict'
import { CLUSTER_PROPAGATION_POLICIES, PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isClaimed, isOnlyIn, isTold, leaves, refusalOf } from '../looks.ts'
import { aClusterPropagationPolicy, aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetStage } from '../story.ts'

const WEB = [deploymentsNamed('web')]
const takes = { preemption: 'Always' }
const webOf = ({ namespace }: FleetStage) => [{ ...deploymentsNamed('web'), namespace }]

export const preemption: FleetArea = {
  name: 'preemption',
  stories: [
    {
      name: 'a policy of higher priority takes a template from another of its namespace, and moves it',
      async run(stage) {
        const [member1, member2] = stage.members
        await stage.hub.create(aPropagationPolicy('low', WEB, on(member1), { priority: 1 }))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.create(aPropagationPolicy('high', WEB, on(member2), { priority: 2, ...takes }))
        await isClaimed(stage, DEPLOYMENTS, 'web', { policy: 'high' })
        await leaves(stage, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member2])
        await isTold(stage, 'PreemptPolicySucceed', /./)
      },
    },
    {
      name: 'one of the same priority takes nothing',
      async run(stage) {
        const [member1, member2] = stage.members
        await stage.hub.create(aPropagationPolicy('b', WEB, on(member1), { priority: 2 }))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.create(aPropagationPolicy('a', WEB, on(member2), { priority: 2, ...takes }))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await isClaimed(stage, DEPLOYMENTS, 'web', { policy: 'b' })
      },
    },
    {
      name: 'a policy of the namespace takes a template from one of the cluster, whatever the priorities',
      async run(stage) {
        const [member1, member2] = stage.members
        await stage.hub.create(aClusterPropagationPolicy(stage.unique('wide'), webOf(stage), on(member1), { priority: 9 }))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.create(aPropagationPolicy('near', WEB, on(member2), { priority: 1, ...takes }))
        await isClaimed(stage, DEPLOYMENTS, 'web', { policy: 'near' })
        await leaves(stage, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'a policy of the cluster takes a template from one of lower priority, never from one of the namespace',
      async run(stage) {
        const [member1, member2] = stage.members
        const [low, high] = [stage.unique('low'), stage.unique('high')]
        await stage.hub.create(aClusterPropagationPolicy(low, webOf(stage), on(member1), { priority: 1 }))
        await stage.hub.create(aPropagationPolicy('near', [deploymentsNamed('other')], on(member1)))
        await stage.hub.create(aDeployment('web'))
        await stage.hub.create(aDeployment('other'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(stage, DEPLOYMENTS, 'other', [member1])
        const both = ['web', 'other'].map((name) => ({ ...deploymentsNamed(name), namespace: stage.namespace }))
        await stage.hub.create(aClusterPropagationPolicy(high, both, on(member2), { priority: 5, ...takes }))
        await isClaimed(stage, DEPLOYMENTS, 'web', { clusterPolicy: high })
        await leaves(stage, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member2])
        await isOnlyIn(stage, DEPLOYMENTS, 'other', [member1])
        await isClaimed(stage, DEPLOYMENTS, 'other', { policy: 'near' })
      },
    },
    {
      name: 'a policy of the namespace that lowers its priority loses to the next that takes',
      async run(stage) {
        const [member1, member2] = stage.members
        await stage.hub.create(aPropagationPolicy('first', WEB, on(member1), { priority: 10, ...takes }))
        await stage.hub.create(aPropagationPolicy('second', WEB, on(member2), { priority: 5, ...takes }))
        await stage.settle()
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.patch(PROPAGATION_POLICIES, 'first', { spec: { priority: 1 } })
        await isClaimed(stage, DEPLOYMENTS, 'web', { policy: 'second' })
        await leaves(stage, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'a policy of the cluster that lowers its priority loses to the highest that takes',
      async run(stage) {
        const [member1, member2, member3] = stage.members
        const [first, second, third] = ['first', 'second', 'third'].map(stage.unique) as [string, string, string]
        await stage.hub.create(aClusterPropagationPolicy(first, webOf(stage), on(member1), { priority: 10, ...takes }))
        await stage.hub.create(aClusterPropagationPolicy(second, webOf(stage), on(member2), { priority: 5, ...takes }))
        await stage.hub.create(aClusterPropagationPolicy(third, webOf(stage), on(member3), { priority: 7, ...takes }))
        await stage.settle()
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.patch(CLUSTER_PROPAGATION_POLICIES, first, { spec: { priority: 1 } })
        await isClaimed(stage, DEPLOYMENTS, 'web', { clusterPolicy: third })
        await leaves(stage, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member3])
      },
    },
    {
      name: 'a policy may begin to take when it is edited',
      async run(stage) {
        const [member1, member2] = stage.members
        await stage.hub.create(aPropagationPolicy('low', WEB, on(member1)))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.create(aPropagationPolicy('high', WEB, on(member2), { priority: 2 }))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.patch(PROPAGATION_POLICIES, 'high', { spec: takes })
        await isClaimed(stage, DEPLOYMENTS, 'web', { policy: 'high' })
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'who takes must name what it takes',
      async run(stage) {
        const all = aPropagationPolicy('all', [{ apiVersion: 'apps/v1', kind: 'Deployment' }], {}, takes)
        assert.match(await refusalOf(stage.hub.create(all)), /name/)
      },
    },
  ],
}
