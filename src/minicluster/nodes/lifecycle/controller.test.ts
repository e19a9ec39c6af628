import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { conditionsOf, expectThere } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import { eventsOf } from '../../../runtime/workloads/pod/testing.ts'
import { aPodOn, markReady, renewLease, reportReady, runPod, startLease, startNode, taintsOf } from '../testing.ts'
import { nodeLifecycle } from './controller.ts'

const MEMBER = { members: 1 }

describe('nodes', () => {
  story(
    'are tainted as their conditions say, and cleared when they are well',
    async (world) => {
      const { member } = world
      await startNode(member, 'other')
      await startNode(member, 'n', 'False')
      await world.settle()
      assert.deepEqual(await taintsOf(member, 'n'), ['not-ready:NoExecute', 'not-ready:NoSchedule'])
      assert.deepEqual(await taintsOf(member, 'other'), [])
      await markReady(member, 'n', 'True')
      await member.patch(NODES, 'n', { spec: { unschedulable: true } })
      await world.settle()
      assert.deepEqual(await taintsOf(member, 'n'), ['unschedulable:NoSchedule'])
      await member.patch(NODES, 'n', { spec: { unschedulable: null } })
      await world.settle()
      assert.deepEqual(await taintsOf(member, 'n'), [])
      const { metadata } = await expectThere(member, NODES, 'n')
      assert.equal(metadata.labels?.['beta.kubernetes.io/os'], 'linux')
      assert.equal(metadata.labels?.['beta.kubernetes.io/arch'], 'amd64')
      assert.deepEqual(await eventsOf(member, 'Node', 'n'), ['RegisteredNode: Node n event: Registered Node n in Controller'])
    },
    MEMBER,
  )

  story(
    'do not drive pods away when none of them is well',
    async (world) => {
      const { member } = world
      await startNode(member, 'a')
      await startNode(member, 'b')
      await markReady(member, 'a', 'False')
      await world.settle()
      assert.deepEqual(await taintsOf(member, 'a'), ['not-ready:NoExecute', 'not-ready:NoSchedule'])
      await markReady(member, 'b', 'False')
      await world.settle()
      for (const name of ['a', 'b']) assert.deepEqual(await taintsOf(member, name), ['not-ready:NoSchedule'])
      await markReady(member, 'b', 'True')
      await world.settle()
      assert.deepEqual(await taintsOf(member, 'a'), ['not-ready:NoExecute', 'not-ready:NoSchedule'])
    },
    MEMBER,
  )

  story(
    'are given up when their lease is not renewed for 50 seconds, and their pods are not ready',
    async (world) => {
      const { member, clock } = world
      await startNode(member, 'other')
      await startNode(member, 'n')
      await startLease(member, 'n', clock.now())
      await member.create(aPodOn('n', 'p'))
      await runPod(member, 'p')
      for (let i = 0; i < 6; i++) {
        await world.advance(20_000)
        await renewLease(member, 'n', clock.now())
      }
      assert.equal(conditionsOf(await expectThere(member, NODES, 'n')).get('Ready')?.status, 'True')
      await world.advance(49_000)
      assert.equal(conditionsOf(await expectThere(member, NODES, 'n')).get('Ready')?.status, 'True')
      await world.advance(2000)
      await world.settle()
      const ready = conditionsOf(await expectThere(member, NODES, 'n')).get('Ready')
      assert.deepEqual(
        [ready?.status, ready?.reason, ready?.message],
        ['Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.'],
      )
      assert.deepEqual(await taintsOf(member, 'n'), ['unreachable:NoExecute', 'unreachable:NoSchedule'])
      assert.equal(conditionsOf(await expectThere(member, PODS, 'default/p')).get('Ready')?.status, 'False')
      assert.ok((await eventsOf(member, 'Node', 'n')).includes('NodeNotReady: Node n status is now: NodeNotReady'))
      assert.deepEqual(await eventsOf(member, 'Pod', 'p'), ['NodeNotReady: Node is not ready'])
      await reportReady(member, 'n', clock.now())
      await world.settle()
      assert.deepEqual(await taintsOf(member, 'n'), [], 'it is back, though its lease is not renewed yet')
      await renewLease(member, 'n', clock.now())
    },
    MEMBER,
  )

  story(
    'are not given up for the time in which nobody looked',
    async (world) => {
      const { member, clock } = world
      await startNode(member, 'n')
      await startLease(member, 'n', clock.now())
      await member.stopControllers()
      await world.advance(3600_000)
      await member.inside(() => member.startControllers())
      await world.settle()
      assert.equal(conditionsOf(await expectThere(member, NODES, 'n')).get('Ready')?.status, 'True')
      await renewLease(member, 'n', clock.now())
    },
    MEMBER,
  )

  story(
    'that are simulated never grow old, and others without a lease neither',
    async (world) => {
      const { member } = world
      await startNode(member, 'by-hand')
      await world.advance(3600_000)
      for (const node of await member.list(NODES)) assert.equal(conditionsOf(node).get('Ready')?.status, 'True', node.metadata.name)
    },
    { members: 1, nodes: 1 },
  )

  story(
    'that never say anything are unknown after a minute',
    async (world) => {
      const { member } = world
      await member.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'silent' } })
      await world.advance(61_000)
      await world.settle()
      const ready = conditionsOf(await expectThere(member, NODES, 'silent')).get('Ready')
      assert.deepEqual([ready?.status, ready?.reason], ['Unknown', 'NodeStatusNeverUpdated'])
    },
    MEMBER,
  )
})

survives(nodeLifecycle(), {
  before: [(cluster) => startNode(cluster, 'other')],
  steps: [
    (cluster) => startNode(cluster, 'n', 'False'),
    (cluster) => markReady(cluster, 'n', 'True'),
    (cluster) => markReady(cluster, 'n', 'Unknown'),
  ],
  async atRest(cluster) {
    assert.deepEqual(await taintsOf(cluster, 'n'), ['unreachable:NoExecute', 'unreachable:NoSchedule'])
  },
})
