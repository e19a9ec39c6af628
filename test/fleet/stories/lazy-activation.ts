/** Lazy policies: they act when people change a template, not when the policy changes. */
import assert from 'node:assert/strict'
import { CLUSTER_PROPAGATION_POLICIES, PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { CONFIG_MAPS, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { bindingOf, isClaimed, isOnlyIn, leaves, reaches } from '../looks.ts'
import { aClusterPropagationPolicy, aConfigMap, aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetStage } from '../story.ts'

const WEB = [deploymentsNamed('web')]
const lazy = { activationPreference: 'Lazy' }
const touch = (stage: FleetStage, name = 'web'): Promise<unknown> =>
  stage.hub.patch(DEPLOYMENTS, name, { metadata: { annotations: { touched: 'yes' } } })

const usingSettings = { volumes: [{ name: 'settings', configMap: { name: 'settings' } }] }

export const lazyActivation: FleetArea = {
  name: 'lazy activation',
  stories: [
    {
      name: 'a template that comes after its lazy policy is placed at once',
      async run(stage) {
        const [member1] = stage.members
        await stage.hub.create(aPropagationPolicy('web', WEB, on(member1), lazy))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'a lazy policy that comes after a template claims it, and places it when people change it',
      async run(stage) {
        const [member1] = stage.members
        await stage.hub.create(aDeployment('web'))
        await stage.settle()
        await stage.hub.create(aPropagationPolicy('web', WEB, on(member1), lazy))
        await isClaimed(stage, DEPLOYMENTS, 'web', { policy: 'web' })
        await stage.settle()
        assert.equal(await bindingOf(stage, 'Deployment', 'web'), undefined)
        await touch(stage)
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'an edited lazy policy changes nothing until the template changes',
      async run(stage) {
        const [member1, member2] = stage.members
        await stage.hub.create(aPropagationPolicy('web', WEB, on(member1), lazy))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: on(member2) } })
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await touch(stage)
        await leaves(stage, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'the same for a lazy policy of the cluster',
      async run(stage) {
        const [member1, member2] = stage.members
        const name = stage.unique('wide')
        const selectors = [{ ...deploymentsNamed('web'), namespace: stage.namespace }]
        await stage.hub.create(aClusterPropagationPolicy(name, selectors, on(member1), lazy))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.patch(CLUSTER_PROPAGATION_POLICIES, name, { spec: { placement: on(member2) } })
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await touch(stage)
        await leaves(stage, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'a lazy policy that takes a template from another claims it, and moves it when people change it',
      async run(stage) {
        const [member1, member2] = stage.members
        await stage.hub.create(aPropagationPolicy('first', WEB, on(member1), { priority: 1 }))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.create(aPropagationPolicy('second', WEB, on(member2), { priority: 2, preemption: 'Always', ...lazy }))
        await isClaimed(stage, DEPLOYMENTS, 'web', { policy: 'second' })
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await touch(stage)
        await leaves(stage, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'a policy that is not lazy takes a template from a lazy one at once',
      async run(stage) {
        const [member1, member2] = stage.members
        await stage.hub.create(aPropagationPolicy('first', WEB, on(member1), { priority: 1, ...lazy }))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.create(aPropagationPolicy('second', WEB, on(member2), { priority: 2, preemption: 'Always' }))
        await isClaimed(stage, DEPLOYMENTS, 'web', { policy: 'second' })
        await leaves(stage, DEPLOYMENTS, 'web', [member1])
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member2])
      },
    },
    {
      name: 'what a template of a lazy policy needs follows it',
      async run(stage) {
        const [member1, member2] = stage.members
        await stage.hub.create(aConfigMap('settings'))
        await stage.hub.create(aPropagationPolicy('web', WEB, on(member1), { propagateDeps: true, ...lazy }))
        await stage.hub.create(aDeployment('web', { pod: usingSettings }))
        await isOnlyIn(stage, CONFIG_MAPS, 'settings', [member1])
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: on(member2) } })
        await isOnlyIn(stage, CONFIG_MAPS, 'settings', [member1])
        await touch(stage)
        await leaves(stage, CONFIG_MAPS, 'settings', [member1])
        await isOnlyIn(stage, CONFIG_MAPS, 'settings', [member2])
      },
    },
    {
      name: 'what is needed by a template and has a lazy policy of its own is in both places',
      async run(stage) {
        const [member1, member2] = stage.members
        const settings = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }]
        await stage.hub.create(aPropagationPolicy('settings', settings, on(member2), lazy))
        await stage.hub.create(aConfigMap('settings'))
        await isOnlyIn(stage, CONFIG_MAPS, 'settings', [member2])
        await stage.hub.create(aPropagationPolicy('web', WEB, on(member1), { propagateDeps: true }))
        await stage.hub.create(aDeployment('web', { pod: usingSettings }))
        await isOnlyIn(stage, CONFIG_MAPS, 'settings', [member1, member2])
        await stage.hub.patch(CONFIG_MAPS, 'settings', { data: { key: 'another' } })
        await reaches(stage, CONFIG_MAPS, 'settings', [member1, member2], ({ data }) => data?.key === 'another')
      },
    },
  ],
}
