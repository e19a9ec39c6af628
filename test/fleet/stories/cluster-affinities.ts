/** Groups of clusters, one tried after the other, and groups that take what the first has no capacity for. */
import assert from 'node:assert/strict'
import { PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { CLUSTER_ROLES, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import { bindingOf, hasEvent, isIn, isPlaced, isScheduled, says } from '../bindings.ts'
import { ownCapacity, relabel } from '../clusters.ts'
import { aClusterPropagationPolicy, aClusterRole, aDeployment, aPropagationPolicy, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'
import { AGGREGATED, BY_CAPACITY } from '../workloads.ts'

/** Two groups by the value of a label of the story's own: member1 is in the first, member2 in the second. */
async function twoGroups(testbed: FleetTestbed): Promise<{ key: string; clusterAffinities: unknown[] }> {
  const [member1, member2] = testbed.members
  const key = testbed.unique('group')
  await relabel(testbed, member1, { [key]: 'first' })
  await relabel(testbed, member2, { [key]: 'second' })
  const group = (value: string) => ({ affinityName: value, labelSelector: { matchLabels: { [key]: value } } })
  return { key, clusterAffinities: [group('first'), group('second')] }
}

async function observedGroup(testbed: FleetTestbed, resource: Resource, name: string): Promise<string | undefined> {
  return (await bindingOf(testbed, resource, name))?.status?.schedulerObservingAffinityName
}

const follows = (testbed: FleetTestbed, resource: Resource, name: string, group: string): Promise<void> =>
  testbed.until(`${name} in the group ${group}`, async () => (await observedGroup(testbed, resource, name)) === group)

/** Once clusters have reported what is left, so that new replicas are weighed by that. */
async function rescale(testbed: FleetTestbed, replicas: number): Promise<void> {
  await testbed.settle()
  await testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas } })
}

const overflow = (primary: string, ...others: string[]) => ({
  clusterAffinities: [
    {
      affinityName: 'primary',
      clusterNames: [primary],
      overflowAffinities: others.map((name) => ({ affinityName: `overflow-${name}`, clusterNames: [name] })),
    },
  ],
})

export const clusterAffinities: FleetArea = {
  name: 'cluster affinities',
  stories: [
    {
      name: 'a Deployment falls to the next group when the first has no cluster any more',
      async run(testbed) {
        const { key, clusterAffinities } = await twoGroups(testbed)
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { clusterAffinities }))
        await testbed.hub.create(aDeployment('web'))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2 })
        await follows(testbed, DEPLOYMENTS, 'web', 'first')
        await relabel(testbed, testbed.members[0], { [key]: null })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 2 })
        await follows(testbed, DEPLOYMENTS, 'web', 'second')
        const why = '0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.'
        const message = `failed to schedule ResourceBinding(${testbed.namespace}/web-deployment) with clusterAffiliates index(0): ${why}`
        await hasEvent(testbed, { kind: 'Deployment', name: 'web' }, 'ScheduleBindingFailed', message)
      },
    },
    {
      name: 'nothing goes back to the first group by itself when its cluster returns',
      async run(testbed) {
        const { key, clusterAffinities } = await twoGroups(testbed)
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { clusterAffinities }))
        await testbed.hub.create(aDeployment('web'))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2 })
        await relabel(testbed, member1, { [key]: null })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 2 })
        await relabel(testbed, member1, { [key]: 'first' })
        await testbed.settle()
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 2 })
        assert.equal(await observedGroup(testbed, DEPLOYMENTS, 'web'), 'second')
      },
    },
    {
      name: 'a ClusterRole falls to the next group as well',
      async run(testbed) {
        const { key, clusterAffinities } = await twoGroups(testbed)
        const [member1, member2] = testbed.members
        const role = aClusterRole(testbed.unique('reader'))
        const name = role.metadata.name ?? ''
        await testbed.hub.create(aClusterPropagationPolicy(name, [selectorOf(role)], { clusterAffinities }))
        await testbed.hub.create(role)
        await isIn(testbed, CLUSTER_ROLES, name, [member1])
        await relabel(testbed, member1, { [key]: null })
        await isIn(testbed, CLUSTER_ROLES, name, [member2])
        await follows(testbed, CLUSTER_ROLES, name, 'second')
      },
    },
    {
      name: 'no group has a cluster: the binding says so for the first, and nothing is left in members',
      async run(testbed) {
        const { key, clusterAffinities } = await twoGroups(testbed)
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { clusterAffinities }))
        await testbed.hub.create(aDeployment('web'))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2 })
        await relabel(testbed, member2, { [key]: null })
        await relabel(testbed, member1, { [key]: null })
        await isPlaced(testbed, DEPLOYMENTS, 'web', {})
        const message = '0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.'
        await says(testbed, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
        await relabel(testbed, member2, { [key]: 'second' })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 2 })
        await isScheduled(testbed, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'a policy changes from one affinity to groups and back',
      async run(testbed) {
        const { clusterAffinities } = await twoGroups(testbed)
        const [, , member3] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member3)))
        await testbed.hub.create(aDeployment('web'))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member3: 2 })
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: { clusterAffinity: null, clusterAffinities } } })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2 })
        await follows(testbed, DEPLOYMENTS, 'web', 'first')
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: { ...on(member3), clusterAffinities: null } } })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member3: 2 })
      },
    },
    {
      name: 'a group that is put before the others is not tried while the one in use still fits',
      async run(testbed) {
        const { clusterAffinities } = await twoGroups(testbed)
        const [, , member3] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { clusterAffinities }))
        await testbed.hub.create(aDeployment('web'))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2 })
        const before = { affinityName: 'before', clusterNames: [member3.name] }
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: { clusterAffinities: [before, ...clusterAffinities] } } })
        await testbed.settle()
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2 })
        assert.equal(await observedGroup(testbed, DEPLOYMENTS, 'web'), 'first')
      },
    },
    {
      name: 'overflow: what the first group has no room for goes to the next, and leaves it first when it shrinks',
      async run(testbed) {
        const capacity = ownCapacity(testbed)
        await capacity.give({ member1: 3, member2: 3, member3: 3 })
        const placement = { ...overflow('member1', 'member2', 'member3'), ...AGGREGATED }
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await testbed.hub.create(aDeployment('web', { replicas: 2, pod: capacity.pod }))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2 })
        await rescale(testbed, 5)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 3, member2: 2 })
        await rescale(testbed, 8)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 3, member2: 3, member3: 2 })
        await rescale(testbed, 4)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 3, member2: 1 })
        await rescale(testbed, 1)
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 1 })
      },
    },
    {
      name: 'overflow: more than all groups have waits, with what there is left as it is',
      async run(testbed) {
        const capacity = ownCapacity(testbed)
        await capacity.give({ member1: 2, member2: 2, member3: 2 })
        const placement = { ...overflow('member1', 'member2'), ...BY_CAPACITY }
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await testbed.hub.create(aDeployment('web', { replicas: 3, pod: capacity.pod }))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 1 })
        await rescale(testbed, 5)
        const message = 'failed to assign replicas: Clusters available replicas are not enough to schedule.'
        await says(testbed, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'Unschedulable', message })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 1 })
        await capacity.give({ member2: 3 })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 3 })
        await isScheduled(testbed, DEPLOYMENTS, 'web')
      },
    },
  ],
}
