/** Groups of clusters, one tried after the other, and groups that take what the first has no room for. */
import assert from 'node:assert/strict'
import { PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { CLUSTER_ROLES, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import { bindingOf, hasEvent, isIn, isPlaced, isScheduled, says } from '../bindings.ts'
import { ownRoom, relabel } from '../clusters.ts'
import { aClusterPropagationPolicy, aClusterRole, aDeployment, aPropagationPolicy, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import type { FleetArea, FleetStage } from '../story.ts'
import { AGGREGATED, BY_ROOM } from '../workloads.ts'

/** Two groups by the value of a label of the story's own: member1 is in the first, member2 in the second. */
async function twoGroups(stage: FleetStage): Promise<{ key: string; clusterAffinities: unknown[] }> {
  const [member1, member2] = stage.members
  const key = stage.unique('group')
  await relabel(stage, member1, { [key]: 'first' })
  await relabel(stage, member2, { [key]: 'second' })
  const group = (value: string) => ({ affinityName: value, labelSelector: { matchLabels: { [key]: value } } })
  return { key, clusterAffinities: [group('first'), group('second')] }
}

async function observedGroup(stage: FleetStage, resource: Resource, name: string): Promise<string | undefined> {
  return (await bindingOf(stage, resource, name))?.status?.schedulerObservingAffinityName
}

const follows = (stage: FleetStage, resource: Resource, name: string, group: string): Promise<void> =>
  stage.until(`${name} in the group ${group}`, async () => (await observedGroup(stage, resource, name)) === group)

/** When clusters have said what is left, so that what comes is weighed by that. */
async function rescale(stage: FleetStage, replicas: number): Promise<void> {
  await stage.settle()
  await stage.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas } })
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
      async run(stage) {
        const { key, clusterAffinities } = await twoGroups(stage)
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { clusterAffinities }))
        await stage.hub.create(aDeployment('web'))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2 })
        await follows(stage, DEPLOYMENTS, 'web', 'first')
        await relabel(stage, stage.members[0], { [key]: null })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 2 })
        await follows(stage, DEPLOYMENTS, 'web', 'second')
        const why = '0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.'
        const message = `failed to schedule ResourceBinding(${stage.namespace}/web-deployment) with clusterAffiliates index(0): ${why}`
        await hasEvent(stage, { kind: 'Deployment', name: 'web' }, 'ScheduleBindingFailed', message)
      },
    },
    {
      name: 'nothing goes back to the first group by itself when its cluster returns',
      async run(stage) {
        const { key, clusterAffinities } = await twoGroups(stage)
        const [member1] = stage.members
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { clusterAffinities }))
        await stage.hub.create(aDeployment('web'))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2 })
        await relabel(stage, member1, { [key]: null })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 2 })
        await relabel(stage, member1, { [key]: 'first' })
        await stage.settle()
        await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 2 })
        assert.equal(await observedGroup(stage, DEPLOYMENTS, 'web'), 'second')
      },
    },
    {
      name: 'a ClusterRole falls to the next group as well',
      async run(stage) {
        const { key, clusterAffinities } = await twoGroups(stage)
        const [member1, member2] = stage.members
        const role = aClusterRole(stage.unique('reader'))
        const name = role.metadata.name ?? ''
        await stage.hub.create(aClusterPropagationPolicy(name, [selectorOf(role)], { clusterAffinities }))
        await stage.hub.create(role)
        await isIn(stage, CLUSTER_ROLES, name, [member1])
        await relabel(stage, member1, { [key]: null })
        await isIn(stage, CLUSTER_ROLES, name, [member2])
        await follows(stage, CLUSTER_ROLES, name, 'second')
      },
    },
    {
      name: 'no group has a cluster: the binding says so for the first, and nothing is left in members',
      async run(stage) {
        const { key, clusterAffinities } = await twoGroups(stage)
        const [member1, member2] = stage.members
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { clusterAffinities }))
        await stage.hub.create(aDeployment('web'))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2 })
        await relabel(stage, member2, { [key]: null })
        await relabel(stage, member1, { [key]: null })
        await isPlaced(stage, DEPLOYMENTS, 'web', {})
        const message = '0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.'
        await says(stage, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
        await relabel(stage, member2, { [key]: 'second' })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 2 })
        await isScheduled(stage, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'a policy changes from one affinity to groups and back',
      async run(stage) {
        const { clusterAffinities } = await twoGroups(stage)
        const [, , member3] = stage.members
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member3)))
        await stage.hub.create(aDeployment('web'))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member3: 2 })
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: { clusterAffinity: null, clusterAffinities } } })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2 })
        await follows(stage, DEPLOYMENTS, 'web', 'first')
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: { ...on(member3), clusterAffinities: null } } })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member3: 2 })
      },
    },
    {
      name: 'a group that is put before the others is not tried while the one in use still fits',
      async run(stage) {
        const { clusterAffinities } = await twoGroups(stage)
        const [, , member3] = stage.members
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { clusterAffinities }))
        await stage.hub.create(aDeployment('web'))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2 })
        const before = { affinityName: 'before', clusterNames: [member3.name] }
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: { clusterAffinities: [before, ...clusterAffinities] } } })
        await stage.settle()
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2 })
        assert.equal(await observedGroup(stage, DEPLOYMENTS, 'web'), 'first')
      },
    },
    {
      name: 'overflow: what the first group has no room for goes to the next, and leaves it first when it shrinks',
      async run(stage) {
        const room = ownRoom(stage)
        await room.give({ member1: 3, member2: 3, member3: 3 })
        const placement = { ...overflow('member1', 'member2', 'member3'), ...AGGREGATED }
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await stage.hub.create(aDeployment('web', { replicas: 2, pod: room.pod }))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2 })
        await rescale(stage, 5)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 3, member2: 2 })
        await rescale(stage, 8)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 3, member2: 3, member3: 2 })
        await rescale(stage, 4)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 3, member2: 1 })
        await rescale(stage, 1)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 1 })
      },
    },
    {
      name: 'overflow: more than all groups have waits, with what there is left as it is',
      async run(stage) {
        const room = ownRoom(stage)
        await room.give({ member1: 2, member2: 2, member3: 2 })
        const placement = { ...overflow('member1', 'member2'), ...BY_ROOM }
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await stage.hub.create(aDeployment('web', { replicas: 3, pod: room.pod }))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 1 })
        await rescale(stage, 5)
        const message = 'failed to assign replicas: Clusters available replicas are not enough to schedule.'
        await says(stage, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'Unschedulable', message })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 1 })
        await room.give({ member2: 3 })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 3 })
        await isScheduled(stage, DEPLOYMENTS, 'web')
      },
    },
  ],
}
