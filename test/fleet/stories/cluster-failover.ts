/** Workloads that leave a cluster with a NoExecute taint: when, in which order, and what they take along. */
import assert from 'node:assert/strict'
import { PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { CLUSTER_ROLES, CONFIG_MAPS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { bindingOf, hasEvent, isIn, sharesOf } from '../bindings.ts'
import { whileCluster } from '../clusters.ts'
import { reaches } from '../expectations.ts'
import { aClusterPropagationPolicy, aClusterRole, aConfigMap, aPropagationPolicy, on, selectorOf } from '../manifests.ts'
import { type OwnKind, ownKind, report, teach } from '../own-kind.ts'
import type { FleetArea, FleetTestbed, Place } from '../story.ts'
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

/** A boat that is in one cluster and healthy there; others are free. */
async function launch(
  testbed: FleetTestbed,
  more: Record<string, unknown> = {},
  placement: Record<string, unknown> = {},
): Promise<Launched> {
  const boats = await ownKind(testbed)
  await teach(testbed, boats, { healthInterpretation: AFLOAT })
  const boat = boats.make('ferry', { seats: 4 })
  await testbed.hub.create(
    aPropagationPolicy('ferry', [selectorOf(boat)], { ...on(...testbed.members), ...ONE_OF_THEM, ...placement }, more),
  )
  await testbed.hub.create(boat, boats.resource)
  let name: string | undefined
  await testbed.until('the boat in a cluster', async () => {
    name = Object.keys(sharesOf(await bindingOf(testbed, boats.resource, 'ferry')))[0]
    return name !== undefined
  })
  const from = testbed.members.find((member) => member.name === name)
  assert.ok(from !== undefined)
  await isIn(testbed, boats.resource, 'ferry', [from])
  await report(from, boats, 'ferry', { afloat: true, voyage: '7' })
  return { boats, from, others: testbed.members.filter((member) => member !== from) }
}

/** Until the decision is to move to one other cluster. */
async function movedTo(testbed: FleetTestbed, { boats, from, others }: Launched): Promise<Place> {
  let to: Place | undefined
  await testbed.until(`the boat scheduled away from ${from.name}`, async () => {
    const shares = sharesOf(await bindingOf(testbed, boats.resource, 'ferry'))
    to = others.find(({ name }) => name in shares)
    return to !== undefined && Object.keys(shares).length === 1
  })
  assert.ok(to !== undefined)
  return to
}

async function tasksOf(testbed: FleetTestbed, { boats }: Launched): Promise<readonly Record<string, unknown>[]> {
  const tasks = (await bindingOf(testbed, boats.resource, 'ferry'))?.spec.gracefulEvictionTasks ?? []
  return tasks.map(({ creationTimestamp, ...task }) => task)
}

const tainted = (testbed: FleetTestbed, place: Place, work: () => Promise<void>): Promise<void> =>
  whileCluster(testbed, place, { taints: [DOWN] }, work)

/** New first: the old copy stays until the new one is healthy. */
async function leavesGracefully(testbed: FleetTestbed, failover: Record<string, unknown>): Promise<void> {
  const launched = await launch(testbed, failover)
  const { boats, from } = launched
  await tainted(testbed, from, async () => {
    const to = await movedTo(testbed, launched)
    await reaches(testbed, boats.resource, 'ferry', [to])
    await testbed.settle()
    assert.ok((await from.get(boats.resource, 'ferry')) !== undefined, 'the old copy stays until the new one is well')
    assert.deepEqual(await tasksOf(testbed, launched), [
      { fromCluster: from.name, purgeMode: 'Gracefully', reason: 'TaintUntolerated', producer: 'TaintManager' },
    ])
    await report(to, boats, 'ferry', { afloat: true })
    await isIn(testbed, boats.resource, 'ferry', [to])
    assert.deepEqual(await tasksOf(testbed, launched), [])
    const message = `Evict from cluster ${from.name} succeed.`
    await hasEvent(testbed, { kind: 'ResourceBinding', name: 'ferry-boat' }, 'EvictWorkloadFromClusterSucceed', message)
    await hasEvent(testbed, { kind: 'Boat', name: 'ferry' }, 'EvictWorkloadFromClusterSucceed', message)
  })
}

export const clusterFailover: FleetArea = {
  name: 'cluster failover',
  stories: [
    {
      name: 'a policy that says nothing leaves gracefully: the old copy goes when the new one is well',
      alone: true,
      run: (testbed) => leavesGracefully(testbed, {}),
    },
    {
      name: 'purge mode Gracefully: the old copy goes when the new one is well',
      alone: true,
      run: (testbed) => leavesGracefully(testbed, { failover: { cluster: { purgeMode: 'Gracefully' } } }),
    },
    {
      name: 'purge mode Directly: the old copy goes first, whatever the new one is like',
      alone: true,
      async run(testbed) {
        const launched = await launch(testbed, { failover: { cluster: { purgeMode: 'Directly' } } })
        const { boats, from } = launched
        await tainted(testbed, from, async () => {
          const to = await movedTo(testbed, launched)
          await isIn(testbed, boats.resource, 'ferry', [to])
          const [task] = await tasksOf(testbed, launched)
          assert.deepEqual([task?.fromCluster, task?.purgeMode], [from.name, 'Directly'])
        })
      },
    },
    {
      name: 'Directly, with state to take along: the new copy carries it as labels',
      alone: true,
      async run(testbed) {
        const statePreservation = { rules: [{ aliasLabelName: 'voyage', jsonPath: '{.voyage}' }] }
        const launched = await launch(testbed, { failover: { cluster: { purgeMode: 'Directly', statePreservation } } })
        const { boats, from } = launched
        await tainted(testbed, from, async () => {
          const to = await movedTo(testbed, launched)
          await reaches(testbed, boats.resource, 'ferry', [to], ({ metadata }: KubeObject) => metadata.labels?.voyage === '7')
          const [task] = await tasksOf(testbed, launched)
          assert.deepEqual([task?.preservedLabelState, task?.clustersBeforeFailover], [{ voyage: '7' }, [from.name]])
        })
      },
    },
    {
      name: 'a toleration for a time: it stays that long, and goes then',
      alone: true,
      async run(testbed) {
        const clusterTolerations = [{ key: 'down', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 4 }]
        const launched = await launch(testbed, {}, { clusterTolerations })
        const { boats, from } = launched
        await tainted(testbed, from, async () => {
          await testbed.pass(2)
          await isIn(testbed, boats.resource, 'ferry', [from])
          const to = await movedTo(testbed, launched)
          await reaches(testbed, boats.resource, 'ferry', [to])
          await report(to, boats, 'ferry', { afloat: true })
          await isIn(testbed, boats.resource, 'ferry', [to])
        })
      },
    },
    {
      name: 'a toleration for a time that is over: it goes once, and does not come back while the taint is there',
      alone: true,
      async run(testbed) {
        const [member1, member2] = testbed.members
        const clusterTolerations = [{ key: 'down', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 2 }]
        const template = aConfigMap('settings')
        await testbed.hub.create(aPropagationPolicy('settings', [selectorOf(template)], { ...on(member1, member2), clusterTolerations }))
        await testbed.hub.create(template)
        await isIn(testbed, CONFIG_MAPS, 'settings', [member1, member2])
        await tainted(testbed, member1, async () => {
          await isIn(testbed, CONFIG_MAPS, 'settings', [member2])
          await testbed.settle()
          // A user changes the template, and it is scheduled again.
          const policy = { spec: { placement: { spreadConstraints: [spreadOver('cluster', 1, 3)] } } }
          await testbed.hub.patch(PROPAGATION_POLICIES, 'settings', policy)
          await testbed.settle()
          await isIn(testbed, CONFIG_MAPS, 'settings', [member2])
          assert.deepEqual((await bindingOf(testbed, CONFIG_MAPS, 'settings'))?.spec.gracefulEvictionTasks ?? [], [])
        })
      },
    },
    {
      name: 'a toleration without end: it stays',
      alone: true,
      async run(testbed) {
        const clusterTolerations = [{ key: 'down', operator: 'Exists', effect: 'NoExecute' }]
        const launched = await launch(testbed, {}, { clusterTolerations })
        await tainted(testbed, launched.from, async () => {
          await testbed.pass(5)
          await testbed.settle()
          await isIn(testbed, launched.boats.resource, 'ferry', [launched.from])
          assert.deepEqual(await tasksOf(testbed, launched), [])
        })
      },
    },
    {
      name: 'nothing comes back by itself when the taint is gone',
      alone: true,
      async run(testbed) {
        const launched = await launch(testbed, { failover: { cluster: { purgeMode: 'Directly' } } })
        let to: Place | undefined
        await tainted(testbed, launched.from, async () => {
          to = await movedTo(testbed, launched)
          await isIn(testbed, launched.boats.resource, 'ferry', [to])
        })
        assert.ok(to !== undefined)
        await testbed.settle()
        await isIn(testbed, launched.boats.resource, 'ferry', [to])
      },
    },
    {
      name: 'what has no namespace leaves as well',
      alone: true,
      async run(testbed) {
        const [member1, member2] = testbed.members
        const role = aClusterRole(testbed.unique('reader'))
        const name = role.metadata.name ?? ''
        await testbed.hub.create(aClusterPropagationPolicy(name, [selectorOf(role)], on(member1, member2)))
        await testbed.hub.create(role)
        await isIn(testbed, CLUSTER_ROLES, name, [member1, member2])
        await tainted(testbed, member1, () => isIn(testbed, CLUSTER_ROLES, name, [member2]))
      },
    },
    {
      name: 'no other cluster to go to: the last copy is not ended, and the binding says what is missing',
      alone: true,
      async run(testbed) {
        const [member1] = testbed.members
        const launched = await launch(testbed, {}, { ...on(member1), spreadConstraints: undefined })
        await tainted(testbed, member1, async () => {
          await testbed.until('the decision', async () => {
            const { spec, status } = (await bindingOf(testbed, launched.boats.resource, 'ferry')) ?? {}
            const condition = status?.conditions?.find(({ type }) => type === 'Scheduled')
            return (spec?.clusters ?? []).length === 0 && condition?.reason === 'NoClusterFit'
          })
          await testbed.settle()
          assert.ok((await member1.get(launched.boats.resource, 'ferry')) !== undefined)
        })
      },
    },
  ],
}
