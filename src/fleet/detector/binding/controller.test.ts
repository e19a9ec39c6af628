import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { DEPLOYMENTS } from '../../../client/builtin-resources.ts'
import { PROPAGATION_POLICIES } from '../../resources.ts'
import {
  aDeployment,
  aPolicy,
  bindingAt,
  claimText,
  claimTextOf,
  clustersOf,
  hubStory,
  newsOf,
  placedIn,
  selecting,
  theBinding,
} from '../testing.ts'

describe('a template that a policy selects', () => {
  hubStory('gets a claim and a binding made of both', async (hub, world) => {
    const policy = await hub.create(
      aPolicy('default/nginx', { resourceSelectors: selecting('nginx'), propagateDeps: true, placement: placedIn('member1', 'member2') }),
    )
    await hub.create(aDeployment('default/nginx', { replicas: 3 }))
    await world.settle()
    const template = await hub.get(DEPLOYMENTS, 'default/nginx')
    const binding = await theBinding(hub, 'default/nginx-deployment')
    assert.equal(claimText(template), claimTextOf(policy))
    assert.equal(claimText(binding), claimTextOf(policy))
    assert.ok(binding.metadata.labels?.['resourcebinding.karmada.io/permanent-id'])
    assert.deepEqual(binding.metadata.finalizers, ['karmada.io/binding-controller'])
    assert.deepEqual(binding.metadata.ownerReferences, [
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: 'nginx',
        uid: template?.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
    assert.deepEqual(binding.spec, {
      resource: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        namespace: 'default',
        name: 'nginx',
        uid: template?.metadata.uid,
        resourceVersion: template?.metadata.resourceVersion,
      },
      replicas: 3,
      replicaRequirements: { resourceRequest: { cpu: '100m' }, namespace: 'default' },
      propagateDeps: true,
      schedulerName: 'default-scheduler',
      placement: placedIn('member1', 'member2'),
      conflictResolution: 'Abort',
    })
    assert.deepEqual(await newsOf(hub, 'Deployment', 'nginx'), [
      'GetReplicasSucceed: Get replicas of resource template successfully.',
      'ApplyPolicySucceed: Apply policy(default/nginx) succeed',
    ])
    await hub.patch(PROPAGATION_POLICIES, 'default/nginx', { spec: { placement: placedIn('member3') } })
    await world.settle()
    assert.deepEqual(clustersOf(await theBinding(hub, 'default/nginx-deployment')), ['member3'])
  })

  hubStory('and nothing is written about one that nobody selects', async (hub, world) => {
    await hub.create(aDeployment('default/nginx'))
    await world.settle()
    assert.equal(await bindingAt(hub, 'default/nginx-deployment'), undefined)
    assert.deepEqual(hub.takeControllerWrites(), [])
  })
})
