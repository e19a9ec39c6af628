import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { CLUSTER_PROPAGATION_POLICIES, PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../../kinds/karmada/resources.ts'
import { CLUSTER_ROLES, DEPLOYMENTS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import {
  aDeployment,
  aPolicy,
  bindingAt,
  CLUSTER_ROLE,
  claimText,
  claimTextOf,
  clustersOf,
  DEPLOYMENT,
  eventsOf,
  hubStory,
  placedIn,
  selecting,
  theBinding,
} from '../testing.ts'

const WEB = 'default/web-deployment'
const templateOf = async (hub: WorldCluster): Promise<KubeObject> => (await hub.get(DEPLOYMENTS, 'default/web')) as KubeObject

/** The claims on template and binding, and where the binding goes. */
async function stateOf(hub: WorldCluster): Promise<unknown[]> {
  const binding = await bindingAt(hub, WEB)
  return [claimText(await templateOf(hub)), claimText(binding), binding === undefined ? undefined : clustersOf(binding)]
}

describe('a template that a policy selects', () => {
  hubStory('gets a claim and a binding made of both', async (hub, world) => {
    const policy = await hub.create(
      aPolicy('default/web', { resourceSelectors: selecting('web'), propagateDeps: true, placement: placedIn('member1', 'member2') }),
    )
    await hub.create(aDeployment('default/web', { replicas: 3 }))
    await world.settle()
    const template = await templateOf(hub)
    const { metadata, spec } = await theBinding(hub, WEB)
    assert.equal(claimText(template), claimTextOf(policy))
    assert.equal(claimText({ ...DEPLOYMENT, metadata }), claimTextOf(policy))
    assert.ok(metadata.labels?.['resourcebinding.karmada.io/permanent-id'])
    assert.deepEqual(metadata.finalizers, ['karmada.io/binding-controller'])
    const { uid, resourceVersion } = template.metadata
    assert.deepEqual(metadata.ownerReferences, [{ ...DEPLOYMENT, name: 'web', uid, controller: true, blockOwnerDeletion: true }])
    assert.deepEqual(spec, {
      resource: { ...DEPLOYMENT, namespace: 'default', name: 'web', uid, resourceVersion },
      replicas: 3,
      replicaRequirements: { resourceRequest: { cpu: '100m' }, namespace: 'default' },
      propagateDeps: true,
      schedulerName: 'default-scheduler',
      placement: placedIn('member1', 'member2'),
      conflictResolution: 'Abort',
    })
    assert.deepEqual(await eventsOf(hub, 'Deployment', 'web'), [
      'GetReplicasSucceed: Get replicas of resource template successfully.',
      'ApplyPolicySucceed: Apply policy(default/web) succeed',
    ])
    assert.equal(hub.takeControllerWrites().filter((write) => !write.includes('/events')).length, 2)
  })

  hubStory('without replicas says none, and says so again when there are some', async (hub, world) => {
    await hub.create(aPolicy('default/web', { resourceSelectors: selecting('web'), propagateDeps: false }))
    await hub.create(aDeployment('default/web', { replicas: 0 }))
    await world.settle()
    const before = (await theBinding(hub, WEB)).spec ?? {}
    assert.deepEqual(
      ['replicas', 'propagateDeps'].filter((field) => field in before),
      [],
    )
    await hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 2 } })
    await world.settle()
    assert.equal((await theBinding(hub, WEB)).spec?.replicas, 2)
    await hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 0 } })
    await world.settle()
    assert.equal('replicas' in ((await theBinding(hub, WEB)).spec ?? {}), false)
  })

  hubStory('before the policy, ends in the same state', async (hub, world) => {
    await hub.create(aDeployment('default/web', { replicas: 3 }))
    await world.settle()
    assert.equal(await bindingAt(hub, WEB), undefined)
    assert.deepEqual(hub.takeControllerWrites(), [], 'nothing is written about a template that nobody selects')
    const policy = await hub.create(aPolicy('default/web', { resourceSelectors: selecting('web') }))
    await world.settle()
    assert.deepEqual(await stateOf(hub), [claimTextOf(policy), claimTextOf(policy), ['member1']])
  })

  hubStory('follows changes of the template and of the policy, and keeps what others write', async (hub, world) => {
    await hub.create(aPolicy('default/web', { resourceSelectors: selecting('web') }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    const requiredBy = [{ namespace: 'default', name: 'other-deployment' }]
    await hub.patch(RESOURCE_BINDINGS, WEB, {
      metadata: { annotations: { mine: 'yes' } },
      spec: { clusters: [{ name: 'member1', replicas: 2 }], requiredBy, rescheduleTriggeredAt: '2026-01-01T00:00:00Z' },
    })
    await hub.patch(PROPAGATION_POLICIES, 'default/web', {
      spec: { placement: placedIn('member3'), conflictResolution: 'Overwrite', preserveResourcesOnDeletion: true },
    })
    await hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 5 } })
    await world.settle()
    const { spec, metadata } = await theBinding(hub, WEB)
    assert.equal(metadata.annotations?.mine, 'yes')
    assert.deepEqual(
      [spec?.replicas, spec?.conflictResolution, spec?.preserveResourcesOnDeletion, spec?.placement],
      [5, 'Overwrite', true, placedIn('member3')],
    )
    assert.deepEqual(
      [spec?.clusters, spec?.requiredBy, spec?.rescheduleTriggeredAt],
      [[{ name: 'member1', replicas: 2 }], requiredBy, '2026-01-01T00:00:00Z'],
    )
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { preserveResourcesOnDeletion: null, placement: null } })
    await world.settle()
    const after = await theBinding(hub, WEB)
    assert.deepEqual([after.spec?.preserveResourcesOnDeletion, after.spec?.placement], [undefined, {}])
  })

  hubStory('passes on the version of its last change, and not that of a status', async (hub, world) => {
    await hub.create(aPolicy('default/web', { resourceSelectors: selecting('web') }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    const { generation } = (await theBinding(hub, WEB)).metadata
    await hub.patch(DEPLOYMENTS, 'default/web', { status: { replicas: 2, observedGeneration: 1 } }, 'status')
    await world.settle()
    const same = await theBinding(hub, WEB)
    assert.equal(same.metadata.generation, generation)
    assert.notEqual(same.spec?.resource.resourceVersion, (await templateOf(hub)).metadata.resourceVersion)
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { annotations: { note: 'changed' } } })
    await world.settle()
    assert.equal((await theBinding(hub, WEB)).spec?.resource.resourceVersion, (await templateOf(hub)).metadata.resourceVersion)
  })

  hubStory('in a namespace that is kept back is left alone, and so is what belongs to another controller', async (hub, world) => {
    await hub.create(aPolicy('all', { resourceSelectors: [DEPLOYMENT] }))
    await hub.create(aDeployment('kube-system/web'))
    const owned = aDeployment('default/web', { labels: { 'resourcetemplate.karmada.io/claimed-by': 'somebody' } })
    await hub.create(owned)
    await world.settle()
    assert.deepEqual([await bindingAt(hub, 'kube-system/web-deployment'), await bindingAt(hub, WEB)], [undefined, undefined])
  })

  hubStory('gets its binding back when somebody deletes it', async (hub, world) => {
    await hub.create(aPolicy('default/web', { resourceSelectors: selecting('web') }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    const { uid } = (await theBinding(hub, WEB)).metadata
    await hub.delete(RESOURCE_BINDINGS, WEB)
    await hub.patch(RESOURCE_BINDINGS, WEB, { metadata: { finalizers: null } })
    await world.settle()
    assert.notEqual((await theBinding(hub, WEB)).metadata.uid, uid)
  })

  hubStory('takes its binding with it', async (hub, world) => {
    await hub.create(aPolicy('default/web', { resourceSelectors: selecting('web') }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    await hub.delete(DEPLOYMENTS, 'default/web')
    await world.settle()
    assert.ok((await theBinding(hub, WEB)).metadata.deletionTimestamp)
    // The binding controller releases it when nothing is left in members; until then a new object of the same name waits, with a message.
    await hub.create(aDeployment('default/web', { replicas: 9 }))
    await world.settle()
    const because = 'sluice.dev/waiting-because'
    assert.match((await templateOf(hub)).metadata.annotations?.[because] ?? '', /former object of this name/)
    await hub.patch(RESOURCE_BINDINGS, WEB, { metadata: { finalizers: null } })
    await world.settle()
    assert.equal((await theBinding(hub, WEB)).spec?.replicas, 9)
    assert.equal((await templateOf(hub)).metadata.annotations?.[because], undefined)
  })
})

describe('a policy of the cluster', () => {
  hubStory('makes a ResourceBinding of what lies in a namespace, and a ClusterResourceBinding of the rest', async (hub, world) => {
    const schedulePriority = { priorityClassSource: 'KubePriorityClass' as const, priorityClassName: 'none' }
    const role = { ...CLUSTER_ROLE, metadata: { name: 'team:reader' }, rules: [] }
    const rolePolicy = aPolicy('roles', {
      resourceSelectors: [{ ...CLUSTER_ROLE, name: 'team:reader' }],
      propagateDeps: true,
      schedulePriority,
    })
    const policy = await hub.create(aPolicy('apps', { resourceSelectors: [{ ...DEPLOYMENT, namespace: 'default' }] }))
    const other = await hub.create(rolePolicy)
    await hub.create(aDeployment('default/web'))
    await hub.create(role)
    await world.settle()
    assert.deepEqual(await stateOf(hub), [claimTextOf(policy), claimTextOf(policy), ['member1']])
    const binding = await theBinding(hub, 'team.reader-clusterrole')
    const template = await hub.get(CLUSTER_ROLES, 'team:reader')
    assert.deepEqual([claimText(template), claimText(binding)], [claimTextOf(other), claimTextOf(other)])
    assert.deepEqual(binding.metadata.finalizers, ['karmada.io/cluster-resource-binding-controller'])
    assert.deepEqual(binding.spec?.resource, {
      ...CLUSTER_ROLE,
      name: 'team:reader',
      uid: template?.metadata.uid,
      resourceVersion: template?.metadata.resourceVersion,
    })
    assert.deepEqual([binding.spec?.propagateDeps, binding.spec?.schedulePriority], [true, undefined])
    assert.deepEqual(await eventsOf(hub, 'ClusterRole', 'team:reader'), ['ApplyPolicySucceed: Apply cluster policy(roles) succeed'])
  })

  hubStory('says once whether dependencies follow what lies in no namespace, and nothing of groups of workloads', async (hub, world) => {
    const selectors = { resourceSelectors: [{ ...CLUSTER_ROLE, name: 'reader' }] }
    const affinity = { workloadAffinity: { affinity: { groupByLabelKey: 'team' } } }
    await hub.create(aPolicy('roles', { ...selectors, propagateDeps: true, placement: affinity }))
    await hub.create({ ...CLUSTER_ROLE, metadata: { name: 'reader', labels: { team: 'a' } }, rules: [] })
    await world.settle()
    await hub.patch(CLUSTER_PROPAGATION_POLICIES, 'roles', {
      spec: { propagateDeps: false, priority: 1, schedulerName: 'default-scheduler' },
    })
    await hub.patch(CLUSTER_ROLES, 'reader', { metadata: { labels: { more: 'x' } } })
    await world.settle()
    const { spec } = await theBinding(hub, 'reader-clusterrole')
    assert.deepEqual([spec?.propagateDeps, spec?.workloadAffinityGroups, spec?.placement], [true, undefined, affinity])
  })

  hubStory('gives way to one of the namespace for what is not claimed yet', async (hub, world) => {
    await hub.create(aPolicy('apps', { resourceSelectors: [DEPLOYMENT], priority: 9 }))
    const policy = await hub.create(aPolicy('default/web', { resourceSelectors: [DEPLOYMENT], placement: placedIn('member2') }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    assert.deepEqual(await stateOf(hub), [claimTextOf(policy), claimTextOf(policy), ['member2']])
  })
})

describe('names that collide', () => {
  const role = (name: string): KubeObject => ({ ...CLUSTER_ROLE, metadata: { name }, rules: [] })
  hubStory('give the binding to the first, and tell the other', async (hub, world) => {
    await hub.create(aPolicy('roles', { resourceSelectors: ['team:reader', 'team.reader'].map((name) => ({ ...CLUSTER_ROLE, name })) }))
    await hub.create(role('team:reader'))
    await world.settle()
    const { uid } = (await theBinding(hub, 'team.reader-clusterrole')).metadata
    await hub.create(role('team.reader'))
    await world.settle()
    const binding = await theBinding(hub, 'team.reader-clusterrole')
    assert.deepEqual([binding.metadata.uid, binding.spec?.resource.name], [uid, 'team:reader'])
    const event = 'its binding would have the same name as that of ClusterRole team:reader: give one of the two another name'
    assert.deepEqual(await eventsOf(hub, 'ClusterRole', 'team.reader'), [`ApplyPolicyFailed: Apply cluster policy(roles) failed: ${event}`])
    await hub.delete(CLUSTER_ROLES, 'team:reader')
    await world.settle()
    await hub.patch({ ...RESOURCE_BINDINGS, plural: 'clusterresourcebindings', namespaced: false }, 'team.reader-clusterrole', {
      metadata: { finalizers: null },
    })
    await world.settle()
    assert.equal((await theBinding(hub, 'team.reader-clusterrole')).spec?.resource.name, 'team.reader')
  })
})

describe('a policy that changes its mind', () => {
  hubStory('lets go of what it selects no longer, and what runs stays', async (hub, world) => {
    await hub.create(aPolicy('default/web', { resourceSelectors: selecting('web') }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    const { spec } = await theBinding(hub, WEB)
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { resourceSelectors: selecting('db') } })
    await world.settle()
    assert.deepEqual(await stateOf(hub), [undefined, undefined, ['member1']])
    assert.deepEqual((await theBinding(hub, WEB)).spec, spec)
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { resourceSelectors: selecting('web') } })
    await world.settle()
    assert.notEqual((await stateOf(hub))[0], undefined)
  })

  hubStory('or whose template does, gives it to the next', async (hub, world) => {
    const byLabel = [{ ...DEPLOYMENT, labelSelector: { matchLabels: { tier: 'front' } } }]
    await hub.create(aPolicy('default/front', { resourceSelectors: byLabel }))
    const next = await hub.create(aPolicy('default/rest', { resourceSelectors: [DEPLOYMENT], placement: placedIn('member2') }))
    await hub.create(aDeployment('default/web', { labels: { tier: 'front' } }))
    await world.settle()
    assert.deepEqual((await stateOf(hub))[2], ['member1'])
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { labels: { tier: 'back' } } })
    await world.settle()
    assert.deepEqual(await stateOf(hub), [claimTextOf(next), claimTextOf(next), ['member2']])
  })

  hubStory('is not displaced by a better one that comes later', async (hub, world) => {
    const first = await hub.create(aPolicy('default/first', { resourceSelectors: [DEPLOYMENT] }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    await hub.create(aPolicy('default/better', { resourceSelectors: selecting('web'), priority: 9, placement: placedIn('member2') }))
    await world.settle()
    assert.deepEqual(await stateOf(hub), [claimTextOf(first), claimTextOf(first), ['member1']])
  })
})

describe('preemption', () => {
  const taker = (where: string, priority: number): KubeObject =>
    aPolicy(where, { resourceSelectors: selecting('web'), preemption: 'Always', priority, placement: placedIn('member2') })

  hubStory('takes from a lower policy, and says so', async (hub, world) => {
    await hub.create(aPolicy('default/low', { resourceSelectors: selecting('web') }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    const high = await hub.create(taker('default/high', 1))
    await world.settle()
    assert.deepEqual(await stateOf(hub), [claimTextOf(high), claimTextOf(high), ['member2']])
    assert.deepEqual((await eventsOf(hub, 'Deployment', 'web')).slice(2), [
      'PreemptPolicySucceed: Propagation policy(default/high) preempted propagation policy(default/low) successfully',
      'ApplyPolicySucceed: Apply policy(default/high) succeed',
    ])
  })

  hubStory('of the namespace takes from the cluster at any priority', async (hub, world) => {
    await hub.create(aPolicy('wide', { resourceSelectors: selecting('web'), priority: 9 }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    const own = await hub.create(taker('default/own', 0))
    await world.settle()
    assert.deepEqual(await stateOf(hub), [claimTextOf(own), claimTextOf(own), ['member2']])
    assert.match(
      (await eventsOf(hub, 'Deployment', 'web')).join(),
      /Propagation policy\(default\/own\) preempted cluster propagation policy\(wide\)/,
    )
  })

  hubStory('happens when the priority of the other sinks', async (hub, world) => {
    const first = await hub.create(aPolicy('default/first', { resourceSelectors: selecting('web'), priority: 5 }))
    await hub.create(aDeployment('default/web'))
    const second = await hub.create(taker('default/second', 3))
    const third = await hub.create(taker('default/third', 4))
    await world.settle()
    assert.equal((await stateOf(hub))[0], claimTextOf(first))
    await hub.patch(PROPAGATION_POLICIES, 'default/first', { spec: { priority: 3 } })
    await world.settle()
    assert.equal((await stateOf(hub))[0], claimTextOf(third))
    await hub.patch(PROPAGATION_POLICIES, 'default/third', { spec: { priority: 2 } })
    await world.settle()
    assert.equal((await stateOf(hub))[0], claimTextOf(second))
    const wide = await hub.create(taker('wide', 9))
    await world.settle()
    assert.equal((await stateOf(hub))[0], claimTextOf(second), 'one of the cluster takes nothing from one of a namespace')
    await hub.delete(CLUSTER_PROPAGATION_POLICIES, wide.metadata.name ?? '')
  })
})
