/** Where the scheduler puts things, and how it divides replicas. */

import { PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS, JOBS } from '../../../src/kinds/kubernetes/resources.ts'
import { hasEvent, isIn, isPlaced, isScheduled, placedWhere, says, totalOf } from '../bindings.ts'
import { relabel } from '../clusters.ts'
import { reaches } from '../expectations.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import { ownKind } from '../own-kind.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'
import { aParallelJob, DUPLICATED, labelled, spreadOver, weighted } from '../workloads.ts'

const NO_MATCH = '3 cluster(s) did not match the placement cluster affinity constraint'

/** Two of three clusters carry a label of the story's own; the placement asks for it. */
async function labelledPair(testbed: FleetTestbed): Promise<Record<string, unknown>> {
  const [member1, , member3] = testbed.members
  const key = testbed.unique('pair')
  for (const member of [member1, member3]) await relabel(testbed, member, { [key]: 'yes' })
  return labelled({ [key]: 'yes' })
}

export const scheduling: FleetArea = {
  name: 'scheduling',
  stories: [
    {
      name: 'a Deployment goes to the clusters with a label, and the events tell it on binding and template',
      async run(testbed) {
        const placement = await labelledPair(testbed)
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await testbed.hub.create(aDeployment('web'))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member3: 2 })
        await isScheduled(testbed, DEPLOYMENTS, 'web')
        // The cluster with more capacity comes first, and other stories take some.
        const results = ['{member1:2, member3:2}', '{member3:2, member1:2}']
        const messages = results.map((result) => `Binding has been scheduled successfully. Result: ${result}`)
        await hasEvent(testbed, { kind: 'Deployment', name: 'web' }, 'ScheduleBindingSucceed', ...messages)
        await hasEvent(testbed, { kind: 'ResourceBinding', name: 'web-deployment' }, 'ScheduleBindingSucceed', ...messages)
      },
    },
    {
      name: 'a policy that says nothing about placement places everywhere, all replicas in each',
      async run(testbed) {
        const policy = aPropagationPolicy('web', [deploymentsNamed('web')], {})
        const { placement: _none, ...spec } = policy.spec as Record<string, unknown>
        await testbed.hub.create({ ...policy, spec })
        await testbed.hub.create(aDeployment('web'))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
      },
    },
    {
      name: 'a Deployment goes to as many of the labelled clusters as its spread constraint allows',
      async run(testbed) {
        const placement = { ...(await labelledPair(testbed)), spreadConstraints: [spreadOver('cluster', 1, 1)] }
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await testbed.hub.create(aDeployment('web'))
        await placedWhere(testbed, DEPLOYMENTS, 'web', (shares) => 'member1' in shares !== 'member3' in shares && totalOf(shares) === 2)
      },
    },
    {
      name: 'a custom resource goes to as many of the labelled clusters as its spread constraint allows',
      async run(testbed) {
        const boats = await ownKind(testbed)
        const placement = { ...(await labelledPair(testbed)), spreadConstraints: [spreadOver('cluster', 2, 2)] }
        const boat = boats.make('ferry', { seats: 4 })
        await testbed.hub.create(aPropagationPolicy('ferry', [selectorOf(boat)], placement))
        await testbed.hub.create(boat, boats.resource)
        const [member1, , member3] = testbed.members
        await isIn(testbed, boats.resource, 'ferry', [member1, member3])
      },
    },
    {
      name: 'a Job goes to as many of the labelled clusters as its spread constraint allows',
      async run(testbed) {
        const placement = { ...(await labelledPair(testbed)), spreadConstraints: [spreadOver('cluster', 1, 1)] }
        const job = aParallelJob('sum', { parallelism: 1, completions: 1 })
        await testbed.hub.create(aPropagationPolicy('sum', [selectorOf(job)], placement))
        await testbed.hub.create(job)
        await placedWhere(testbed, JOBS, 'sum', (shares) => 'member1' in shares !== 'member3' in shares)
      },
    },
    {
      name: 'fewer clusters than the spread constraint needs: the binding says so, and more of them end the wait',
      async run(testbed) {
        const placement = await labelledPair(testbed)
        const spreadConstraints = [spreadOver('cluster', 3, 3)]
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...placement, spreadConstraints }))
        await testbed.hub.create(aDeployment('web'))
        const message = 'failed to select clusters: the number of feasible clusters is less than spreadConstraint.MinGroups'
        await says(testbed, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'SchedulerError', message })
        await hasEvent(testbed, { kind: 'Deployment', name: 'web' }, 'ScheduleBindingFailed', message)
        await relabel(testbed, testbed.members[1], { [testbed.unique('pair')]: 'yes' })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
        await isScheduled(testbed, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'no cluster fits: the binding says how many did not and why, and the first that does ends the wait',
      async run(testbed) {
        const key = testbed.unique('later')
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], labelled({ [key]: 'yes' })))
        await testbed.hub.create(aDeployment('web'))
        const message = `0/3 clusters are available: ${NO_MATCH}.`
        await says(testbed, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
        await hasEvent(testbed, { kind: 'ResourceBinding', name: 'web-deployment' }, 'ScheduleBindingFailed', message)
        await relabel(testbed, testbed.members[1], { [key]: 'yes' })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 2 })
        await isScheduled(testbed, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'Duplicated: every cluster has all replicas, also after a rescale',
      async run(testbed) {
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...on(...testbed.members), ...DUPLICATED }))
        await testbed.hub.create(aDeployment('web', { replicas: 2 }))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
        await testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 5 } })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 5, member2: 5, member3: 5 })
      },
    },
    {
      name: 'no replicaScheduling is Duplicated; clusters that are excluded have nothing',
      async run(testbed) {
        const placement = { clusterAffinity: { exclude: ['member2'] } }
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await testbed.hub.create(aDeployment('web', { replicas: 3 }))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 3, member3: 3 })
      },
    },
    {
      name: 'Divided without weights: evenly, and the rest goes to somebody',
      async run(testbed) {
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...on(...testbed.members), ...weighted() }))
        await testbed.hub.create(aDeployment('web', { replicas: 6 }))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
        await testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 7 } })
        await placedWhere(testbed, DEPLOYMENTS, 'web', (shares) => Object.values(shares).sort().join() === '2,2,3')
      },
    },
    {
      name: 'Divided by static weights: in proportion, up and down again',
      async run(testbed) {
        const placement = { ...on(...testbed.members), ...weighted({ member1: 1, member2: 2 }) }
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await testbed.hub.create(aDeployment('web', { replicas: 9 }))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 3, member2: 6 })
        await testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 18 } })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 6, member2: 12 })
        await testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 3 } })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 1, member2: 2 })
      },
    },
    {
      name: 'other weights in the policy divide what is there anew',
      async run(testbed) {
        const placement = (weights: Record<string, number>) => ({ ...on(...testbed.members), ...weighted(weights) })
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement({ member1: 1, member2: 1 })))
        await testbed.hub.create(aDeployment('web', { replicas: 8 }))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 4, member2: 4 })
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: placement({ member1: 3, member3: 1 }) } })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 6, member3: 2 })
      },
    },
    {
      name: 'a Job that is divided: parallelism by weight, and completions by the parallelism',
      async run(testbed) {
        const job = aParallelJob('sum', { parallelism: 6, completions: 12 })
        const placement = { ...on(...testbed.members), ...weighted({ member1: 1, member2: 2 }) }
        await testbed.hub.create(aPropagationPolicy('sum', [selectorOf(job)], placement))
        await testbed.hub.create(job)
        await isPlaced(testbed, JOBS, 'sum', { member1: 2, member2: 4 })
        const [member1, member2] = testbed.members
        await reaches(testbed, JOBS, 'sum', [member1], ({ spec }) => spec?.completions === 4)
        await reaches(testbed, JOBS, 'sum', [member2], ({ spec }) => spec?.completions === 8)
      },
    },
    {
      name: 'a Job that is duplicated keeps its completions everywhere',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const job = aParallelJob('sum', { parallelism: 2, completions: 4 })
        await testbed.hub.create(aPropagationPolicy('sum', [selectorOf(job)], { ...on(member1, member2), ...DUPLICATED }))
        await testbed.hub.create(job)
        await isPlaced(testbed, JOBS, 'sum', { member1: 2, member2: 2 })
        await reaches(testbed, JOBS, 'sum', [member1, member2], ({ spec }) => spec?.completions === 4)
      },
    },
  ],
}
