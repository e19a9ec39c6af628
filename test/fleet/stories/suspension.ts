/** Dispatching held back by a policy: Works are made and say so, members see nothing of it until it goes on. */
import assert from 'node:assert/strict'
import { executionNamespace } from '../../../src/kinds/karmada/names.ts'
import { CLUSTER_PROPAGATION_POLICIES, PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { findCondition } from '../../../src/kube/conditions.ts'
import { bindingOf, isOnlyIn, isTold, leaves, reaches, refusalOf, workOf } from '../looks.ts'
import { aClusterPropagationPolicy, aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetStage, Place } from '../story.ts'

const isHeld = (stage: FleetStage, place: Place, name: string): Promise<void> =>
  stage.until(`the Work for ${place.name} says that it is suspended`, async () => {
    const work = await workOf(stage, place, 'Deployment', name)
    const condition = findCondition(work?.status?.conditions, 'Dispatching')
    return condition?.status === 'False' && condition.reason === 'SuspendDispatching' && work?.spec.suspendDispatching === true
  })

const goesOn = (stage: FleetStage, place: Place, name: string): Promise<void> =>
  stage.until(`the Work for ${place.name} says that it is dispatched`, async () => {
    const condition = findCondition((await workOf(stage, place, 'Deployment', name))?.status?.conditions, 'Dispatching')
    return condition?.status === 'True' && condition.reason === 'Dispatching'
  })

export const suspension: FleetArea = {
  name: 'suspension',
  stories: [
    {
      name: 'a suspended policy schedules and makes Works, and nothing reaches a member until it goes on',
      async run(stage) {
        const [member1, member2] = stage.members
        const held = { suspension: { dispatching: true } }
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1, member2), held))
        await stage.hub.create(aDeployment('web'))
        await isHeld(stage, member1, 'web')
        await isHeld(stage, member2, 'web')
        assert.equal((await bindingOf(stage, 'Deployment', 'web'))?.spec.suspension?.dispatching, true)
        await stage.settle()
        await leaves(stage, DEPLOYMENTS, 'web', stage.members)
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { suspension: null } })
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1, member2])
        await goesOn(stage, member1, 'web')
      },
    },
    {
      name: 'events at the Work tell when dispatching stops and goes on',
      async run(stage) {
        const [member1] = stage.members
        const held = { suspension: { dispatching: true } }
        const where = { namespace: executionNamespace(member1.name) }
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1), held))
        await stage.hub.create(aDeployment('web'))
        await isHeld(stage, member1, 'web')
        const { metadata } = (await workOf(stage, member1, 'Deployment', 'web')) ?? assert.fail('no Work')
        await isTold(stage, 'WorkDispatching', /Work dispatching is in a suspended state\./, where, metadata.name)
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { suspension: null } })
        await isTold(stage, 'WorkDispatching', /Work is being dispatched to member clusters\./, where, metadata.name)
      },
    },
    {
      name: 'clusters can be held back one by one',
      async run(stage) {
        const [member1, member2] = stage.members
        const held = { suspension: { dispatchingOnClusters: { clusterNames: [member1.name] } } }
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1, member2), held))
        await stage.hub.create(aDeployment('web'))
        await isHeld(stage, member1, 'web')
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member2])
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', {
          spec: { suspension: { dispatchingOnClusters: { clusterNames: [member2.name] } } },
        })
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1, member2])
        await isHeld(stage, member2, 'web')
      },
    },
    {
      name: 'changes of a template wait while its policy is suspended, and arrive together afterwards',
      async run(stage) {
        const [member1] = stage.members
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await stage.hub.create(aDeployment('web', { replicas: 1 }))
        await reaches(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { suspension: { dispatching: true } } })
        await isHeld(stage, member1, 'web')
        await stage.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 2 } })
        await stage.hub.patch(DEPLOYMENTS, 'web', { metadata: { labels: { tier: 'gold' } } })
        await stage.settle()
        const kept = await member1.get(DEPLOYMENTS, 'web')
        assert.deepEqual([kept?.spec?.replicas, kept?.metadata.labels?.tier], [1, undefined])
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { suspension: null } })
        await reaches(stage, DEPLOYMENTS, 'web', [member1], (it) => it.spec?.replicas === 2 && it.metadata.labels?.tier === 'gold')
      },
    },
    {
      name: 'a suspended policy of the cluster holds back what it placed in namespaces, too',
      async run(stage) {
        const [member1] = stage.members
        const name = stage.unique('wide')
        const selector = { ...deploymentsNamed('web'), namespace: stage.namespace }
        await stage.hub.create(aClusterPropagationPolicy(name, [selector], on(member1), { suspension: { dispatching: true } }))
        await stage.hub.create(aDeployment('web'))
        await isHeld(stage, member1, 'web')
        await stage.settle()
        await leaves(stage, DEPLOYMENTS, 'web', stage.members)
        await stage.hub.patch(CLUSTER_PROPAGATION_POLICIES, name, { spec: { suspension: null } })
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'everything and single clusters cannot be held back at once',
      async run(stage) {
        const both = { suspension: { dispatching: true, dispatchingOnClusters: { clusterNames: ['member1'] } } }
        const refusal = await refusalOf(stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], {}, both)))
        assert.match(refusal, /suspension/)
      },
    },
    {
      name: 'a binding whose scheduling is suspended by somebody waits, and is scheduled when it is let go',
      async run(stage) {
        const [member1] = stage.members
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1), { suspension: { dispatching: true } }))
        await stage.hub.create(aDeployment('web'))
        await isHeld(stage, member1, 'web')
        await stage.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { suspension: { scheduling: true } } })
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { suspension: null, placement: on(stage.members[1]) } })
        await stage.settle()
        const waiting = await bindingOf(stage, 'Deployment', 'web')
        assert.deepEqual(
          waiting?.spec.clusters?.map(({ name }) => name),
          [member1.name],
        )
        assert.equal(waiting?.spec.suspension?.scheduling, true, 'the policy does not take it away')
        await stage.hub.patch(RESOURCE_BINDINGS, 'web-deployment', { spec: { suspension: { scheduling: false } } })
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [stage.members[1]])
      },
    },
  ],
}
