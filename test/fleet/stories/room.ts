/** Replicas by the room that clusters have: in proportion to it (dynamic weight), or in as few clusters as hold them (aggregated). */
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isPlaced, isScheduled, placedWhere, reportedAs, type Shares, says, totalOf } from '../bindings.ts'
import { ownRoom } from '../clusters.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetStage } from '../story.ts'
import { AGGREGATED, BY_ROOM, spreadOver } from '../workloads.ts'

/** A Deployment of so many, whose pods take one of what members have of the story's own. */
async function web(stage: FleetStage, replicas: number, amounts: Record<string, number>, strategy: Record<string, unknown>) {
  const room = ownRoom(stage)
  await room.give(amounts)
  await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], { ...on(...stage.members), ...strategy }))
  await stage.hub.create(aDeployment('web', { replicas, pod: room.pod }))
  return room
}

/** When clusters have said what is left, so that what comes is weighed by that. */
async function rescale(stage: FleetStage, replicas: number): Promise<void> {
  await stage.settle()
  await stage.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas } })
}

/** The same without waiting: what was decided may still be on its way, or have arrived and not be counted. */
const rescaleAtOnce = (stage: FleetStage, replicas: number): Promise<unknown> => stage.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas } })

const fits = (shares: Shares, room: Shares): boolean => Object.entries(shares).every(([name, share]) => share <= (room[name] ?? 0))

export const room: FleetArea = {
  name: 'replicas by room',
  stories: [
    {
      name: 'dynamic weight: in proportion to what each cluster can take',
      async run(stage) {
        await web(stage, 12, { member1: 18, member2: 12, member3: 6 }, BY_ROOM)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 6, member2: 4, member3: 2 })
        await isScheduled(stage, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'dynamic weight: more replicas come to those that are there, by what is still free',
      async run(stage) {
        await web(stage, 6, { member1: 6, member2: 3 }, BY_ROOM)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 4, member2: 2 })
        await rescale(stage, 9)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 6, member2: 3 })
      },
    },
    {
      name: 'dynamic weight: fewer replicas shrink in proportion to what is there',
      async run(stage) {
        await web(stage, 9, { member1: 12, member2: 6 }, BY_ROOM)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 6, member2: 3 })
        await rescale(stage, 3)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 1 })
      },
    },
    {
      name: 'too little room: the binding says how much there is, and room that comes ends the wait',
      async run(stage) {
        const room = await web(stage, 5, { member1: 2, member2: 1 }, BY_ROOM)
        const message = 'failed to assign replicas: failed to scale up: Clusters available replicas 3 are not enough to schedule.'
        await says(stage, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'Unschedulable', message })
        await isPlaced(stage, DEPLOYMENTS, 'web', {})
        await room.give({ member3: 2 })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 2, member2: 1, member3: 2 })
        await isScheduled(stage, DEPLOYMENTS, 'web')
      },
    },
    {
      name: 'aggregated: in the one cluster that holds all of them',
      async run(stage) {
        await web(stage, 5, { member1: 2, member2: 8, member3: 4 }, AGGREGATED)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 5 })
      },
    },
    {
      name: 'aggregated: as few clusters as are needed, beginning with the one that has them already',
      async run(stage) {
        await web(stage, 3, { member1: 4, member2: 3, member3: 2 }, AGGREGATED)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 3 })
        await rescale(stage, 6)
        await placedWhere(stage, DEPLOYMENTS, 'web', (shares) => totalOf(shares) === 6 && Object.keys(shares).length === 2)
        await rescale(stage, 9)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 4, member2: 3, member3: 2 })
      },
    },
    {
      name: 'aggregated: more and more at once: no cluster is given more than it has',
      async run(stage) {
        const amounts = { member1: 4, member2: 3, member3: 2 }
        await web(stage, 3, amounts, AGGREGATED)
        await isPlaced(stage, DEPLOYMENTS, 'web', { member1: 3 })
        for (const replicas of [6, 9]) {
          await rescaleAtOnce(stage, replicas)
          await placedWhere(stage, DEPLOYMENTS, 'web', (shares) => totalOf(shares) === replicas && fits(shares, amounts))
        }
      },
    },
    {
      name: 'aggregated: more in the moment in which all are well and the cluster has not counted them: not more than it has',
      needs: 'pods', // because only pods that run are well, and counted
      async run(stage) {
        const amounts = { member1: 4, member2: 3, member3: 2 }
        await web(stage, 3, amounts, AGGREGATED)
        await reportedAs(stage, DEPLOYMENTS, 'web', 'member1', ({ health }) => health === 'Healthy')
        for (const replicas of [6, 9]) {
          await rescaleAtOnce(stage, replicas)
          await placedWhere(stage, DEPLOYMENTS, 'web', (shares) => totalOf(shares) === replicas && fits(shares, amounts))
          await reportedAs(stage, DEPLOYMENTS, 'web', 'member2', ({ health }) => health === 'Healthy')
        }
      },
    },
    {
      name: 'aggregated within a spread constraint: the clusters that together have the room',
      async run(stage) {
        await web(stage, 7, { member1: 1, member2: 4, member3: 3 }, { ...AGGREGATED, spreadConstraints: [spreadOver('cluster', 2, 2)] })
        await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 4, member3: 3 })
      },
    },
    {
      name: 'no two clusters have the room: the binding says so',
      async run(stage) {
        await web(stage, 8, { member1: 3, member2: 3, member3: 3 }, { ...AGGREGATED, spreadConstraints: [spreadOver('cluster', 2, 2)] })
        const message = 'failed to select clusters: no enough resource when selecting 2 clusters'
        await says(stage, DEPLOYMENTS, 'web', { type: 'Scheduled', status: 'False', reason: 'SchedulerError', message })
      },
    },
  ],
}
