/** Lazy policies: they act when a template changes, not when the policy changes. */
import assert from 'node:assert/strict'
import { CLUSTER_PROPAGATION_POLICIES, PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { CONFIG_MAPS, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { bindingOf, isClaimed, isOnlyIn, leaves, reaches } from '../expectations.ts'
import { aClusterPropagationPolicy, aConfigMap, aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'

const WEB = [deploymentsNamed('web')]
const lazy = { activationPreference: 'Lazy' }
const touch = (testbed: FleetTestbed, name = 'web'): Promise<unknown> =>
  testbed.hub.patch(DEPLOYMENTS, name, { metadata: { annotations: { touched: 'yes' } } })

const usingSettings = { volumes: [{ name: 'settings', configMap: { name: 'settings' } }] }

export const lazyActivation: FleetArea = {
  name: 'lazy activation',
  stories: [
    {
      name: 'a template that comes after its lazy policy is placed at once',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1), lazy))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'a lazy policy that comes after a template claims it, and places it when people change it',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aDeployment('web'))
        await testbed.settle()
        await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1), lazy))
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'web' })
        await testbed.settle()
        assert.equal(await bindingOf(testbed, 'Deployment', 'web'), undefined)
        await touch(testbed)
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'an edited lazy policy changes nothing until the template changes',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1), lazy))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: on(member2) } })
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await touch(testbed)
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'the same for a lazy policy of the cluster',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const name = testbed.unique('wide')
        const selectors = [{ ...deploymentsNamed('web'), namespace: testbed.namespace }]
        await testbed.hub.create(aClusterPropagationPolicy(name, selectors, on(member1), lazy))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.patch(CLUSTER_PROPAGATION_POLICIES, name, { spec: { placement: on(member2) } })
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await touch(testbed)
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'a lazy policy that takes a template from another claims it, and moves it when people change it',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('first', WEB, on(member1), { priority: 1 }))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.create(aPropagationPolicy('second', WEB, on(member2), { priority: 2, preemption: 'Always', ...lazy }))
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'second' })
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await touch(testbed)
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'a policy that is not lazy takes a template from a lazy one at once',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('first', WEB, on(member1), { priority: 1, ...lazy }))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.create(aPropagationPolicy('second', WEB, on(member2), { priority: 2, preemption: 'Always' }))
        await isClaimed(testbed, DEPLOYMENTS, 'web', { policy: 'second' })
        await leaves(testbed, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'what a template of a lazy policy needs follows it',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aConfigMap('settings'))
        await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1), { propagateDeps: true, ...lazy }))
        await testbed.hub.create(aDeployment('web', { pod: usingSettings }))
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member1])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: on(member2) } })
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member1])
        await touch(testbed)
        await leaves(testbed, CONFIG_MAPS, 'settings', [member1])
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member2])
      },
    },
    {
      name: 'what is needed by a template and has a lazy policy of its own is in both places',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const settings = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }]
        await testbed.hub.create(aPropagationPolicy('settings', settings, on(member2), lazy))
        await testbed.hub.create(aConfigMap('settings'))
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member2])
        await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1), { propagateDeps: true }))
        await testbed.hub.create(aDeployment('web', { pod: usingSettings }))
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member1, member2])
        await testbed.hub.patch(CONFIG_MAPS, 'settings', { data: { key: 'another' } })
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1, member2], ({ data }) => data?.key === 'another')
      },
    },
  ],
}
