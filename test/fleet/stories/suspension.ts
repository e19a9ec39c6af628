/** Dispatching suspended by a policy: Works are created and say so; members see nothing of it until it is resumed. */
import assert from 'node:assert/strict'
import { executionNamespace } from '../../../src/kinds/karmada/names.ts'
import { CLUSTER_PROPAGATION_POLICIES, PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { findCondition } from '../../../src/kube/conditions.ts'
import { bindingOf, eventAppears, isOnlyIn, leaves, reaches, refusalOf, workOf } from '../expectations.ts'
import { aClusterPropagationPolicy, aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetTestbed, Place } from '../story.ts'

const isHeld = (testbed: FleetTestbed, place: Place, name: string): Promise<void> =>
  testbed.until(`the Work for ${place.name} says that it is suspended`, async () => {
    const work = await workOf(testbed, place, 'Deployment', name)
    const condition = findCondition(work?.status?.conditions, 'Dispatching')
    return condition?.status === 'False' && condition.reason === 'SuspendDispatching' && work?.spec.suspendDispatching === true
  })

const goesOn = (testbed: FleetTestbed, place: Place, name: string): Promise<void> =>
  testbed.until(`the Work for ${place.name} says that it is dispatched`, async () => {
    const condition = findCondition((await workOf(testbed, place, 'Deployment', name))?.status?.conditions, 'Dispatching')
    return condition?.status === 'True' && condition.reason === 'Dispatching'
  })

export const suspension: FleetArea = {
  name: 'suspension',
  stories: [
    {
      name: 'a suspended policy schedules and makes Works, and nothing reaches a member until it goes on',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const held = { suspension: { dispatching: true } }
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1, member2), held))
        await testbed.hub.create(aDeployment('web'))
        await isHeld(testbed, member1, 'web')
        await isHeld(testbed, member2, 'web')
        assert.equal((await bindingOf(testbed, 'Deployment', 'web'))?.spec.suspension?.dispatching, true)
        await testbed.settle()
        await leaves(testbed, DEPLOYMENTS, 'web', testbed.members)
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { suspension: null } })
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1, member2])
        await goesOn(testbed, member1, 'web')
      },
    },
    {
      name: 'events at the Work tell when dispatching stops and goes on',
      async run(testbed) {
        const [member1] = testbed.members
        const held = { suspension: { dispatching: true } }
        const where = { namespace: executionNamespace(member1.name) }
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1), held))
        await testbed.hub.create(aDeployment('web'))
        await isHeld(testbed, member1, 'web')
        const { metadata } = (await workOf(testbed, member1, 'Deployment', 'web')) ?? assert.fail('no Work')
        await eventAppears(testbed, 'WorkDispatching', /Work dispatching is in a suspended state\./, where, metadata.name)
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { suspension: null } })
        await eventAppears(testbed, 'WorkDispatching', /Work is being dispatched to member clusters\./, where, metadata.name)
      },
    },
    {
      name: 'clusters can be held back one by one',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const held = { suspension: { dispatchingOnClusters: { clusterNames: [member1.name] } } }
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1, member2), held))
        await testbed.hub.create(aDeployment('web'))
        await isHeld(testbed, member1, 'web')
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', {
          spec: { suspension: { dispatchingOnClusters: { clusterNames: [member2.name] } } },
        })
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1, member2])
        await isHeld(testbed, member2, 'web')
      },
    },
    {
      name: 'changes of a template wait while its policy is suspended, and arrive together afterwards',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web', { replicas: 1 }))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { suspension: { dispatching: true } } })
        await isHeld(testbed, member1, 'web')
        await testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 2 } })
        await testbed.hub.patch(DEPLOYMENTS, 'web', { metadata: { labels: { tier: 'gold' } } })
        await testbed.settle()
        const kept = await member1.get(DEPLOYMENTS, 'web')
        assert.deepEqual([kept?.spec?.replicas, kept?.metadata.labels?.tier], [1, undefined])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { suspension: null } })
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], (it) => it.spec?.replicas === 2 && it.metadata.labels?.tier === 'gold')
      },
    },
    {
      name: 'a suspended policy of the cluster holds back what it placed in namespaces, too',
      async run(testbed) {
        const [member1] = testbed.members
        const name = testbed.unique('wide')
        const selector = { ...deploymentsNamed('web'), namespace: testbed.namespace }
        await testbed.hub.create(aClusterPropagationPolicy(name, [selector], on(member1), { suspension: { dispatching: true } }))
        await testbed.hub.create(aDeployment('web'))
        await isHeld(testbed, member1, 'web')
        await testbed.settle()
        await leaves(testbed, DEPLOYMENTS, 'web', testbed.members)
        await testbed.hub.patch(CLUSTER_PROPAGATION_POLICIES, name, { spec: { suspension: null } })
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'everything and single clusters cannot be held back at once',
      async run(testbed) {
        const both = { suspension: { dispatching: true, dispatchingOnClusters: { clusterNames: ['member1'] } } }
        const refusal = await refusalOf(testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], {}, both)))
        assert.match(refusal, /suspension/)
      },
    },
    {
      name: 'a binding whose scheduling is suspended by somebody waits, and is scheduled when it is let go',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1), { suspension: { dispatching: true } }))
        await testbed.hub.create(aDeployment('web'))
        await isHeld(testbed, member1, 'web')
        await testbed.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { suspension: { scheduling: true } } })
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { suspension: null, placement: on(testbed.members[1]) } })
        await testbed.settle()
        const waiting = await bindingOf(testbed, 'Deployment', 'web')
        assert.deepEqual(
          waiting?.spec.clusters?.map(({ name }) => name),
          [member1.name],
        )
        assert.equal(waiting?.spec.suspension?.scheduling, true, 'the policy does not take it away')
        await testbed.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { suspension: { scheduling: false } } })
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [testbed.members[1]])
      },
    },
  ],
}
