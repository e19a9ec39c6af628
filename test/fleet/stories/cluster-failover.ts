/** Work that leaves a cluster with a NoExecute taint: when, in which order, and what it takes along. */
import assert from 'node:assert/strict'
import { PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { CLUSTER_ROLES, CONFIG_MAPS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { bindingOf, hasEvent, isIn, sharesOf } from '../bindings.ts'
import { whileCluster } from '../clusters.ts'
import { reaches } from '../looks.ts'
import { aClusterPropagationPolicy, aClusterRole, aConfigMap, aPropagationPolicy, on, selectorOf } from '../manifests.ts'
import { type OwnKind, ownKind, report, teach } from '../own-kind.ts'
import type { FleetArea, FleetStage, Place } from '../story.ts'
import { spreadOver } from '../workloads.ts'

const DOWN = { key: 'down', effect: 'NoExecute' }
const ONE_OF_THEM = { spreadConstraints: [spreadOver('cluster', 1, 1)] }
const AFLOAT = 'function InterpretHealth(observed) return observed.status ~= nil and observed.status.afloat == true end'

interface Launched {
  boats: OwnKind
  /** Where it is, and where it can go. */
  from: Place
  others: readonly Place[]
}

/** A boat that is in one cluster and well there; others are free. */
async function launch(stage: FleetStage, more: Record<string, unknown> = {}, placement: Record<string, unknown> = {}): Promise<Launched> {
  const boats = await ownKind(stage)
  await teach(stage, boats, { healthInterpretation: AFLOAT })
  const boat = boats.make('ferry', { seats: 4 })
  await stage.hub.create(aPropagationPolicy('ferry', [selectorOf(boat)], { ...on(...stage.members), ...ONE_OF_THEM, ...placement }, more))
  await stage.hub.create(boat, boats.resource)
  let name: string | undefined
  await stage.until('the boat in a cluster', async () => {
    name = Object.keys(sharesOf(await bindingOf(stage, boats.resource, 'ferry')))[0]
    return name !== undefined
  })
  const from = stage.members.find((member) => member.name === name)
  assert.ok(from !== undefined)
  await isIn(stage, boats.resource, 'ferry', [from])
  await report(from, boats, 'ferry', { afloat: true, voyage: '7' })
  return { boats, from, others: stage.members.filter((member) => member !== from) }
}

/** Until it was decided to go to one other cluster. */
async function movedTo(stage: FleetStage, { boats, from, others }: Launched): Promise<Place> {
  let to: Place | undefined
  await stage.until(`the boat scheduled away from ${from.name}`, async () => {
    const shares = sharesOf(await bindingOf(stage, boats.resource, 'ferry'))
    to = others.find(({ name }) => name in shares)
    return to !== undefined && Object.keys(shares).length === 1
  })
  assert.ok(to !== undefined)
  return to
}

async function tasksOf(stage: FleetStage, { boats }: Launched): Promise<readonly Record<string, unknown>[]> {
  const tasks = (await bindingOf(stage, boats.resource, 'ferry'))?.spec.gracefulEvictionTasks ?? []
  return tasks.map(({ creationTimestamp, ...task }) => task)
}

const tainted = (stage: FleetStage, place: Place, work: () => Promise<void>): Promise<void> =>
  whileCluster(stage, place, { taints: [DOWN] }, work)

/** New first: the old copy stays until the new one is well. */
async function leavesGracefully(stage: FleetStage, failover: Record<string, unknown>): Promise<void> {
  const launched = await launch(stage, failover)
  const { boats, from } = launched
  await tainted(stage, from, async () => {
    const to = await movedTo(stage, launched)
    await reaches(stage, boats.resource, 'ferry', [to])
    await stage.settle()
    assert.ok((await from.get(boats.resource, 'ferry')) !== undefined, 'the old copy stays until the new one is well')
    assert.deepEqual(await tasksOf(stage, launched), [
      { fromCluster: from.name, purgeMode: 'Gracefully', reason: 'TaintUntolerated', producer: 'TaintManager' },
    ])
    await report(to, boats, 'ferry', { afloat: true })
    await isIn(stage, boats.resource, 'ferry', [to])
    assert.deepEqual(await tasksOf(stage, launched), [])
    const message = `Evict from cluster ${from.name} succeed.`
    await hasEvent(stage, { kind: 'ResourceBinding', name: 'ferry-boat' }, 'EvictWorkloadFromClusterSucceed', message)
    await hasEvent(stage, { kind: 'Boat', name: 'ferry' }, 'EvictWorkloadFromClusterSucceed', message)
  })
}

export const clusterFailover: FleetArea = {
  name: 'cluster failover',
  stories: [
    {
      name: 'a policy that says nothing leaves gracefully: the old copy goes when the new one is well',
      alone: true,
      run: (stage) => leavesGracefully(stage, {}),
    },
    {
      name: 'purge mode Gracefully: the old copy goes when the new one is well',
      alone: true,
      run: (stage) => leavesGracefully(stage, { failover: { cluster: { purgeMode: 'Gracefully' } } }),
    },
    {
      name: 'purge mode Directly: the old copy goes first, whatever the new one is like',
      alone: true,
      async run(stage) {
        const launched = await launch(stage, { failover: { cluster: { purgeMode: 'Directly' } } })
        const { boats, from } = launched
        await tainted(stage, from, async () => {
          const to = await movedTo(stage, launched)
          await isIn(stage, boats.resource, 'ferry', [to])
          const [task] = await tasksOf(stage, launched)
          assert.deepEqual([task?.fromCluster, task?.purgeMode], [from.name, 'Directly'])
        })
      },
    },
    {
      name: 'Directly, with state to take along: the new copy carries it as labels',
      alone: true,
      async run(stage) {
        const statePreservation = { rules: [{ aliasLabelName: 'voyage', jsonPath: '{.voyage}' }] }
        const launched = await launch(stage, { failover: { cluster: { purgeMode: 'Directly', statePreservation } } })
        const { boats, from } = launched
        await tainted(stage, from, async () => {
          const to = await movedTo(stage, launched)
          await reaches(stage, boats.resource, 'ferry', [to], ({ metadata }: KubeObject) => metadata.labels?.voyage === '7')
          const [task] = await tasksOf(stage, launched)
          assert.deepEqual([task?.preservedLabelState, task?.clustersBeforeFailover], [{ voyage: '7' }, [from.name]])
        })
      },
    },
    {
      name: 'a toleration for a time: it stays that long, and goes then',
      alone: true,
      async run(stage) {
        const clusterTolerations = [{ key: 'down', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 4 }]
        const launched = await launch(stage, {}, { clusterTolerations })
        const { boats, from } = launched
        await tainted(stage, from, async () => {
          await stage.pass(2)
          await isIn(stage, boats.resource, 'ferry', [from])
          const to = await movedTo(stage, launched)
          await reaches(stage, boats.resource, 'ferry', [to])
          await report(to, boats, 'ferry', { afloat: true })
          await isIn(stage, boats.resource, 'ferry', [to])
        })
      },
    },
    {
      name: 'a toleration for a time that is over: it goes once, and does not come back while the taint is there',
      alone: true,
      async run(stage) {
        const [member1, member2] = stage.members
        const clusterTolerations = [{ key: 'down', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 2 }]
        const template = aConfigMap('settings')
        await stage.hub.create(aPropagationPolicy('settings', [selectorOf(template)], { ...on(member1, member2), clusterTolerations }))
        await stage.hub.create(template)
        await isIn(stage, CONFIG_MAPS, 'settings', [member1, member2])
        await tainted(stage, member1, async () => {
          await isIn(stage, CONFIG_MAPS, 'settings', [member2])
          await stage.settle()
          // Somebody changes the template, and it is decided anew.
          const policy = { spec: { placement: { spreadConstraints: [spreadOver('cluster', 1, 3)] } } }
          await stage.hub.patch(PROPAGATION_POLICIES, 'settings', policy)
          await stage.settle()
          await isIn(stage, CONFIG_MAPS, 'settings', [member2])
          assert.deepEqual((await bindingOf(stage, CONFIG_MAPS, 'settings'))?.spec.gracefulEvictionTasks ?? [], [])
        })
      },
    },
    {
      name: 'a toleration without end: it stays',
      alone: true,
      async run(stage) {
        const clusterTolerations = [{ key: 'down', operator: 'Exists', effect: 'NoExecute' }]
        const launched = await launch(stage, {}, { clusterTolerations })
        await tainted(stage, launched.from, async () => {
          await stage.pass(5)
          await stage.settle()
          await isIn(stage, launched.boats.resource, 'ferry', [launched.from])
          assert.deepEqual(await tasksOf(stage, launched), [])
        })
      },
    },
    {
      name: 'nothing comes back by itself when the taint is gone',
      alone: true,
      async run(stage) {
        const launched = await launch(stage, { failover: { cluster: { purgeMode: 'Directly' } } })
        let to: Place | undefined
        await tainted(stage, launched.from, async () => {
          to = await movedTo(stage, launched)
          await isIn(stage, launched.boats.resource, 'ferry', [to])
        })
        assert.ok(to !== undefined)
        await stage.settle()
        await isIn(stage, launched.boats.resource, 'ferry', [to])
      },
    },
    {
      name: 'what has no namespace leaves as well',
      alone: true,
      async run(stage) {
        const [member1, member2] = stage.members
        const role = aClusterRole(stage.unique('reader'))
        const name = role.metadata.name ?? ''
        await stage.hub.create(aClusterPropagationPolicy(name, [selectorOf(role)], on(member1, member2)))
        await stage.hub.create(role)
        await isIn(stage, CLUSTER_ROLES, name, [member1, member2])
        await tainted(stage, member1, () => isIn(stage, CLUSTER_ROLES, name, [member2]))
      },
    },
    {
      name: 'no other cluster to go to: the last copy is not ended, and the binding says what is missing',
      alone: true,
      async run(stage) {
        const [member1] = stage.members
        const launched = await launch(stage, {}, { ...on(member1), spreadConstraints: undefined })
        await tainted(stage, member1, async () => {
          await stage.until('the decision', async () => {
            const { spec, status } = (await bindingOf(stage, launched.boats.resource, 'ferry')) ?? {}
            const condition = status?.conditions?.find(({ type }) => type === 'Scheduled')
            return (spec?.clusters ?? []).length === 0 && condition?.reason === 'NoClusterFit'
          })
          await stage.settle()
          assert.ok((await member1.get(launched.boats.resource, 'ferry')) !== undefined)
        })
      },
    },
  ],
}
