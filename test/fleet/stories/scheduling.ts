/** Where the scheduler puts things, and how it divides replicas. */

import { PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS, JOBS } from '../../../src/kinds/kubernetes/resources.ts'
import { hasEvent, isIn, isPlaced, isScheduled, placedWhere, says, totalOf } from '../bindings.ts'
import { relabel } from '../clusters.ts'
import { reaches } from '../looks.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import { ownKind } from '../own-kind.ts'
import type { FleetArea, FleetStage } from '../story.ts'
import { aParallelJob, DUPLICATED, labelled, spreadOver, weighted } from '../workloads.ts'

const NO_MATCH = '3 cluster(s) did not match the placement cluster affinity constraint'

/** Two of three clusters carry a label of the story's own; the placement asks for it. */
async function labelledPair(stage: FleetStage): Promise<Record<string, unknown>> {
  const [member1, , member3] = stage.members
  const key = stage.unique('pair')
  for (const member of [member1, member3]) await relabel(stage, member, { [key]: 'yes' })
  return labelled({ [key]: 'yes' })
}

export const scheduling: FleetArea = {
  name: 'scheduling',
  stories: [
    {
      name: 'a Deployment goes to the clusters with a label, and the events tell it on binding and template',
      async run(stage) {
        const placement = await labelledPair(stage)
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await stage.hub.create(aDeployment('web'))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member3: 2 })
        await isScheduled(stage, DEPLOYMENTS, 'web')
        // The cluster with more room comes first, and other stories take some.
        const results = ['{member1:2, member3:2}', '{member3:2, member1:2}']
        const messages = results.map((result) => `Binding has been scheduled successfully. Result: ${result}`)
        await hasEvent(stage, { kind: 'Deployment', name: 'web' }, 'ScheduleBindingSucceed', ...messages)
        await hasEvent(stage, { kind: 'ResourceBinding', name: 'web-deployment' }, 'ScheduleBindingSucceed', ...messages)
      },
    },
    {
      name: 'a policy that says nothing about placement places everywhere, all replicas in each',
      async run(stage) {
        const policy = aPropagationPolicy('web', [deploymentsNamed('web')], {})
        const { placement: _none, ...spec } = policy.spec as Record<string, unknown>
        await stage.hub.create({ ...policy, spec })
        await stage.hub.create(aDeployment('web'))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
      },
    },
    {
      name: 'a Deployment goes to as many of the labelled clusters as its spread constraint allows',
      async run(stage) {
        const placement = { ...(await labelledPair(stage)), spreadConstraints: [spreadOver('cluster', 1, 1)] }
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await stage.hub.create(aDeployment('web'))
        await placedWhere(stage, DEPLOYMENTS, 'web', (shares) => 'member1' in shares !== 'member3' in shares && totalOf(shares) === 2)
      },
    },
    {
      name: 'a custom resource goes to as many of the labelled clusters as its spread constraint allows',
      async run(stage) {
        const boats = await ownKind(stage)
        const placement = { ...(await labelledPair(stage)), spreadConstraints: [spreadOver('cluster', 2, 2)] }
        const boat = boats.make('ferry', { seats: 4 })
        await stage.hub.create(aPropagationPolicy('ferry', [selectorOf(boat)], placement))
        await stage.hub.create(boat, boats.resource)
        const [member1, , member3] = stage.members
        await isIn(stage, boats.resource, 'ferry', [member1, member3])
      },
    },
    {
      name: 'a Job goes to as many of the labelled clusters as its spread constraint allows',
      async run(stage) {
        const placement = { ...(await labelledPair(stage)), spreadConstraints: [spreadOver('cluster', 1, 1)] }
        const job = aParallelJob('sum', { parallelism: 1, completions: 1 })
        await stage.hub.create(aPropagationPolicy('sum', [selectorOf(job)], placement))
        await stage.hub.create(job)
        await placedWhere(stage, JOBS, 'sum', (shares) => 'member1' in shares !== 'member3' in shares)
      },
    },
    {
      name: 'fewer clusters than the spread constraint needs: the binding says so, and more of them end the wait',
      async run(stage) {
        const placement = await labelledPair(stage)
        const spreadConstraints = [spreadOver('cluster', 3, 3)]
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...placement, spreadConstraints }))
        await stage.hub.create(aDeployment('web'))
        const message = 'failed to select clusters: the number of feasible clusters is less than spreadConstraint.MinGroups'
        await says(stage, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'SchedulerError', message })
        await hasEvent(stage, { kind: 'Deployment', name: 'web' }, 'ScheduleBindingFailed', message)
        await relabel(stage, stage.members[1], { [stage.unique('pair')]: 'yes' })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
        await isScheduled(stage, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'no cluster fits: the binding says how many did not and why, and the first that does ends the wait',
      async run(stage) {
        const key = stage.unique('later')
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], labelled({ [key]: 'yes' })))
        await stage.hub.create(aDeployment('web'))
        const message = `0/3 clusters are available: ${NO_MATCH}.`
        await says(stage, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'NoClusterFit', message })
        await hasEvent(stage, { kind: 'ResourceBinding', name: 'web-deployment' }, 'ScheduleBindingFailed', message)
        await relabel(stage, stage.members[1], { [key]: 'yes' })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 2 })
        await isScheduled(stage, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'Duplicated: every cluster has all replicas, also after a rescale',
      async run(stage) {
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...on(...stage.members), ...DUPLICATED }))
        await stage.hub.create(aDeployment('web', { replicas: 2 }))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
        await stage.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 5 } })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 5, member2: 5, member3: 5 })
      },
    },
    {
      name: 'no replicaScheduling is Duplicated; clusters that are excluded have nothing',
      async run(stage) {
        const placement = { clusterAffinity: { exclude: ['member2'] } }
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await stage.hub.create(aDeployment('web', { replicas: 3 }))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 3, member3: 3 })
      },
    },
    {
      name: 'Divided without weights: evenly, and the rest goes to somebody',
      async run(stage) {
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...on(...stage.members), ...weighted() }))
        await stage.hub.create(aDeployment('web', { replicas: 6 }))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 2, member3: 2 })
        await stage.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 7 } })
        await placedWhere(stage, DEPLOYMENTS, 'web', (shares) => Object.values(shares).sort().join() === '2,2,3')
      },
    },
    {
      name: 'Divided by static weights: in proportion, up and down again',
      async run(stage) {
        const placement = { ...on(...stage.members), ...weighted({ member1: 1, member2: 2 }) }
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await stage.hub.create(aDeployment('web', { replicas: 9 }))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 3, member2: 6 })
        await stage.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 18 } })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 6, member2: 12 })
        await stage.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 3 } })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 1, member2: 2 })
      },
    },
    {
      name: 'other weights in the policy divide what is there anew',
      async run(stage) {
        const placement = (weights: Record<string, number>) => ({ ...on(...stage.members), ...weighted(weights) })
        await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement({ member1: 1, member2: 1 })))
        await stage.hub.create(aDeployment('web', { replicas: 8 }))
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 4, member2: 4 })
        await stage.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: placement({ member1: 3, member3: 1 }) } })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 6, member3: 2 })
      },
    },
    {
      name: 'a Job that is divided: parallelism by weight, and completions by the parallelism',
      async run(stage) {
        const job = aParallelJob('sum', { parallelism: 6, completions: 12 })
        const placement = { ...on(...stage.members), ...weighted({ member1: 1, member2: 2 }) }
        await stage.hub.create(aPropagationPolicy('sum', [selectorOf(job)], placement))
        await stage.hub.create(job)
        await isPlaced(stage, JOBS, 'sum', { member1: 2, member2: 4 })
        const [member1, member2] = stage.members
        await reaches(stage, JOBS, 'sum', [member1], ({ spec }) => spec?.completions === 4)
        await reaches(stage, JOBS, 'sum', [member2], ({ spec }) => spec?.completions === 8)
      },
    },
    {
      name: 'a Job that is duplicated keeps its completions everywhere',
      async run(stage) {
        const [member1, member2] = stage.members
        const job = aParallelJob('sum', { parallelism: 2, completions: 4 })
        await stage.hub.create(aPropagationPolicy('sum', [selectorOf(job)], { ...on(member1, member2), ...DUPLICATED }))
        await stage.hub.create(job)
        await isPlaced(stage, JOBS, 'sum', { member1: 2, member2: 2 })
        await reaches(stage, JOBS, 'sum', [member1, member2], ({ spec }) => spec?.completions === 4)
      },
    },
  ],
}
