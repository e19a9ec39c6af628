/** Which PropagationPolicy a template gets, what the binding says, and what editing and deleting the policy does. */
import assert from 'node:assert/strict'
import { PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../../src/kinds/karmada/resources.ts'
import { BINDING_FINALIZER, PROPAGATION_POLICY_ID, RESOURCE_BINDING_ID } from '../../../src/kinds/karmada/well-known.ts'
import { CONFIG_MAPS, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isConditionTrue } from '../../../src/kube/conditions.ts'
import { bindingOf, claimOf, eventAppears, isClaimed, isOnlyIn, leaves, reaches, refusalOf } from '../expectations.ts'
import { aClusterPropagationPolicy, aConfigMap, aDeployment, aPropagationPolicy, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import type { FleetArea } from '../story.ts'

const ALL_DEPLOYMENTS = { apiVersion: 'apps/v1', kind: 'Deployment' }
const labelled = (app: string) => ({ ...ALL_DEPLOYMENTS, labelSelector: { matchLabels: { app } } })

export const propagationPolicy: FleetArea = {
  name: 'propagation policy',
  stories: [
    {
      name: 'the binding tells what it is about, who claimed it, where it went and that it arrived',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1, member2)))
        const template = await testbed.hub.create(aDeployment('web'))
        await testbed.until('fully applied', async () =>
          isConditionTrue((await bindingOf(testbed, 'Deployment', 'web'))?.status?.conditions, 'FullyApplied'),
        )
        const policy = await testbed.hub.get(PROPAGATION_POLICIES, 'web')
        const { metadata, spec, status } = (await bindingOf(testbed, 'Deployment', 'web')) ?? assert.fail('no binding')
        assert.equal(metadata.labels?.[PROPAGATION_POLICY_ID], policy?.metadata.labels?.[PROPAGATION_POLICY_ID])
        assert.ok(metadata.labels?.[RESOURCE_BINDING_ID], 'it has a permanent id of its own')
        assert.ok(metadata.finalizers?.includes(BINDING_FINALIZER))
        assert.deepEqual(
          metadata.ownerReferences?.map(({ kind, name, uid, controller }) => ({ kind, name, uid, controller })),
          [{ kind: 'Deployment', name: 'web', uid: template.metadata.uid, controller: true }],
        )
        assert.deepEqual([spec.resource.kind, spec.resource.namespace, spec.resource.name], ['Deployment', testbed.namespace, 'web'])
        assert.equal(spec.replicas, 2)
        assert.deepEqual(spec.clusters?.map(({ name }) => name).sort(), [member1.name, member2.name])
        assert.ok(isConditionTrue(status?.conditions, 'Scheduled'))
        assert.deepEqual(
          status?.aggregatedStatus?.map(({ clusterName, applied }) => [clusterName, applied]),
          [
            [member1.name, true],
            [member2.name, true],
          ],
        )
      },
    },
    {
      name: 'events tell that the policy was applied and the work was made',
      async run(testbed) {
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(testbed.members[0])))
        await testbed.hub.create(aDeployment('web'))
        await eventAppears(testbed, 'ApplyPolicySucceed', new RegExp(`Apply policy\\(${testbed.namespace}/web\\) succeed`))
        await eventAppears(testbed, 'ScheduleBindingSucceed', /./)
        await eventAppears(testbed, 'SyncWorkSucceed', /./)
      },
    },
    {
      name: 'order does not matter: a policy that comes after its template takes it',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aDeployment('web'))
        await testbed.settle()
        assert.equal(await bindingOf(testbed, 'Deployment', 'web'), undefined)
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'a policy may have a name as long as names can be',
      async run(testbed) {
        const name = 'p'.repeat(253)
        await testbed.hub.create(aPropagationPolicy(name, [deploymentsNamed('web')], on(testbed.members[0])))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [testbed.members[0]])
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: name })
      },
    },
    {
      name: 'of policies of one priority, the one that names the template wins, then the one that selects its labels',
      async run(testbed) {
        const [member1, member2, member3] = testbed.members
        await testbed.hub.create(aPropagationPolicy('a-all', [ALL_DEPLOYMENTS], on(member1)))
        await testbed.hub.create(aPropagationPolicy('b-label', [labelled('web')], on(member2)))
        await testbed.hub.create(aPropagationPolicy('c-name', [deploymentsNamed('named')], on(member3)))
        // Policies and templates arrive by separate watches: which of two policies wins is decided only when both are known.
        await testbed.settle()
        await testbed.hub.create(aDeployment('named', { labels: { app: 'web' } }))
        await testbed.hub.create(aDeployment('labelled', { labels: { app: 'web' } }))
        await testbed.hub.create(aDeployment('other'))
        await isClaimed(testbed, DEPLOYMENTS, 'named', { policy: 'c-name' })
        await isClaimed(testbed, DEPLOYMENTS, 'labelled', { policy: 'b-label' })
        await isClaimed(testbed, DEPLOYMENTS, 'other', { policy: 'a-all' })
        await isOnlyIn(testbed, DEPLOYMENTS, 'named', [member3])
        await isOnlyIn(testbed, DEPLOYMENTS, 'labelled', [member2])
        await isOnlyIn(testbed, DEPLOYMENTS, 'other', [member1])
      },
    },
    {
      name: 'a higher priority wins over a selector that says more',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('named', [deploymentsNamed('web')], on(member1), { priority: 1 }))
        await testbed.hub.create(aPropagationPolicy('all', [ALL_DEPLOYMENTS], on(member2), { priority: 2 }))
        await testbed.settle()
        await testbed.hub.create(aDeployment('web'))
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'all' })
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'of policies that are equal in everything, the first by name wins',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('b', [deploymentsNamed('web')], on(member2)))
        await testbed.hub.create(aPropagationPolicy('a', [deploymentsNamed('web')], on(member1)))
        await testbed.settle()
        await testbed.hub.create(aDeployment('web'))
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'a' })
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'a policy of the namespace wins over one of the cluster, whatever its priority',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const selector = { ...deploymentsNamed('web'), namespace: testbed.namespace }
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('wide'), [selector], on(member2), { priority: 9 }))
        await testbed.hub.create(aPropagationPolicy('near', [ALL_DEPLOYMENTS], on(member1)))
        await testbed.settle()
        await testbed.hub.create(aDeployment('web'))
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'near' })
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'a claim is kept when a better policy comes that does not preempt',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('first', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.create(aPropagationPolicy('better', [deploymentsNamed('web')], on(member2), { priority: 5 }))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'first' })
      },
    },
    {
      name: 'a template that its policy no longer selects is let go; what is in members stays',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await testbed.hub.create(aDeployment('other'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { resourceSelectors: [deploymentsNamed('other')] } })
        await isClaimed(testbed, DEPLOYMENTS, 'other', { policy: 'web' })
        await isClaimed(testbed, DEPLOYMENTS, 'web', {})
        await isOnlyIn(testbed, DEPLOYMENTS, 'other', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        assert.deepEqual(claimOf(await bindingOf(testbed, 'Deployment', 'web')), {})
      },
    },
    {
      name: 'a selector that says more takes in what waited for it, and keeps what it had',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await testbed.hub.create(aConfigMap('settings'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        const both = [deploymentsNamed('web'), selectorOf(aConfigMap('settings'))]
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { resourceSelectors: both } })
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member1])
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'web' })
      },
    },
    {
      name: 'a template let go is taken by the next policy that selects it',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('first', [deploymentsNamed('web')], on(member1), { priority: 2 }))
        await testbed.hub.create(aPropagationPolicy('second', [ALL_DEPLOYMENTS], on(member2)))
        await testbed.settle()
        await testbed.hub.create(aDeployment('web'))
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'first' })
        await testbed.hub.patch(PROPAGATION_POLICIES, 'first', { spec: { resourceSelectors: [deploymentsNamed('none')] } })
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'second' })
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'an edited placement moves what it placed',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: on(member2) } })
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'a placement that grows reaches the new clusters, one that shrinks leaves the others alone',
      async run(testbed) {
        const [member1, member2, member3] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        const uid = (await member1.get(DEPLOYMENTS, 'web'))?.metadata.uid
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: on(member1, member2, member3) } })
        await reaches(testbed, DEPLOYMENTS, 'web', [member2, member3])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: on(member1) } })
        await leaves(testbed, DEPLOYMENTS, 'web', [member2, member3])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        assert.equal((await member1.get(DEPLOYMENTS, 'web'))?.metadata.uid, uid, 'never replaced')
      },
    },
    {
      name: 'a deleted policy takes its claim along, and nothing else',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.delete(PROPAGATION_POLICIES, 'web')
        await isClaimed(testbed, DEPLOYMENTS, 'web', {})
        await testbed.until('the policy is gone', async () => (await testbed.hub.get(PROPAGATION_POLICIES, 'web')) === undefined)
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        assert.deepEqual(claimOf(await bindingOf(testbed, 'Deployment', 'web')), {})
      },
    },
    {
      name: 'when a policy is deleted, the next best one takes over',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('best', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aPropagationPolicy('next', [ALL_DEPLOYMENTS], on(member2)))
        await testbed.settle()
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.delete(PROPAGATION_POLICIES, 'best')
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'next' })
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'a policy made again under the same name claims anew, with another id',
      async run(testbed) {
        const [member1] = testbed.members
        const policy = aPropagationPolicy('web', [deploymentsNamed('web')], on(member1))
        await testbed.hub.create(policy)
        await testbed.hub.create(aDeployment('web'))
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'web' })
        const idOf = async (): Promise<string | undefined> =>
          (await testbed.hub.get(DEPLOYMENTS, 'web'))?.metadata.labels?.[PROPAGATION_POLICY_ID]
        const before = await idOf()
        await testbed.hub.delete(PROPAGATION_POLICIES, 'web')
        await isClaimed(testbed, DEPLOYMENTS, 'web', {})
        await testbed.until('the policy is gone', async () => (await testbed.hub.get(PROPAGATION_POLICIES, 'web')) === undefined)
        await testbed.hub.create(policy)
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'web' })
        assert.notEqual(await idOf(), before)
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'a template made again under the same name is placed anew',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.delete(DEPLOYMENTS, 'web')
        const { metadata } = await testbed.hub.create(aDeployment('web', { replicas: 4 }))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], (it) => it.spec?.replicas === 4)
        await testbed.until(
          'a binding of the new one',
          async () => (await bindingOf(testbed, 'Deployment', 'web'))?.spec.resource.uid === metadata.uid,
        )
      },
    },
    {
      name: 'selectors get the namespace of the policy, and may name no other',
      async run(testbed) {
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(testbed.members[0])))
        const policy = await testbed.hub.get(PROPAGATION_POLICIES, 'web')
        assert.equal(policy?.spec.resourceSelectors[0]?.namespace, testbed.namespace)
        const other = aPropagationPolicy('other', [{ ...deploymentsNamed('web'), namespace: 'default' }], {})
        assert.match(await refusalOf(testbed.hub.create(other)), /namespace/)
      },
    },
    {
      name: 'the permanent id and the scheduler of a policy cannot be changed',
      async run(testbed) {
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(testbed.members[0])))
        const id = testbed.hub.patch(PROPAGATION_POLICIES, 'web', { metadata: { labels: { [PROPAGATION_POLICY_ID]: 'mine' } } })
        assert.match(await refusalOf(id), /is immutable, it can only be set by the system during creation/)
        const scheduler = testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { schedulerName: 'another' } })
        assert.match(await refusalOf(scheduler), /the schedulerName should not be updated/)
      },
    },
    {
      name: 'a template claimed by another controller is left alone',
      async run(testbed) {
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(testbed.members[0])))
        await testbed.hub.create(aDeployment('web', { labels: { 'resourcetemplate.karmada.io/claimed-by': 'somebody' } }))
        await testbed.settle()
        assert.deepEqual(await testbed.hub.list(RESOURCE_BINDINGS), [])
        assert.deepEqual(claimOf(await testbed.hub.get(DEPLOYMENTS, 'web')), {})
      },
    },
  ],
}
