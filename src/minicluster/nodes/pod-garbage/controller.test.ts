import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runControllers } from '../../../composition.ts'
import { conditionsOf, expectGone, expectThere } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { RunControllers } from '../../../faultsim/world/cluster.ts'
import { NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { configure } from '../../../runtime/module/configure.ts'
import { minicluster } from '../../module.ts'
import { aPodOn, markReady, runPod, startNode } from '../testing.ts'
import { podGarbage } from './controller.ts'
import { plan as planTerminated, terminatedPods } from './terminated/controller.ts'

const MEMBER = { members: 1 }
const held = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, finalizers: ['example.com/look'] } })

describe('pods without a node', () => {
  story(
    'are failed and deleted 40 seconds after their node is gone',
    async (world) => {
      const { member } = world
      await startNode(member, 'n')
      await member.create(held(aPodOn('n', 'p')))
      await runPod(member, 'p')
      await world.settle()
      await member.delete(NODES, 'n')
      await world.advance(39_000)
      assert.equal((await expectThere(member, PODS, 'default/p')).metadata.deletionTimestamp, undefined)
      await world.advance(2000)
      await world.settle()
      const pod = (await expectThere(member, PODS, 'default/p')) as Pod
      assert.equal(pod.status?.phase, 'Failed')
      assert.ok(pod.metadata.deletionTimestamp !== undefined)
      const { reason, message } = conditionsOf(pod).get('DisruptionTarget') ?? {}
      assert.deepEqual([reason, message], ['DeletionByPodGC', 'PodGC: node no longer exists'])
    },
    MEMBER,
  )

  story(
    'are kept when the node comes back in time',
    async (world) => {
      const { member } = world
      await startNode(member, 'n')
      await member.create(aPodOn('n', 'p'))
      await world.settle()
      await member.delete(NODES, 'n')
      await world.advance(30_000)
      await startNode(member, 'n')
      await world.advance(60_000)
      assert.equal((await expectThere(member, PODS, 'default/p')).metadata.deletionTimestamp, undefined)
    },
    MEMBER,
  )

  story(
    'that were deleted before they got one are failed, and wait for finalizers only',
    async (world) => {
      const { member } = world
      await member.create(held(aPodOn(undefined, 'p')))
      await member.delete(PODS, 'default/p')
      await world.settle()
      assert.equal(((await expectThere(member, PODS, 'default/p')) as Pod).status?.phase, 'Failed')
      await member.patch(PODS, 'default/p', { metadata: { finalizers: null } })
      await world.settle()
      await expectGone(member, PODS, 'default/p')
    },
    MEMBER,
  )

  story(
    'that can end them are ended when it is out of service',
    async (world) => {
      const { member } = world
      await startNode(member, 'other')
      await startNode(member, 'n')
      await member.create(aPodOn('n', 'p'))
      await member.delete(PODS, 'default/p')
      await markReady(member, 'n', 'False')
      await world.settle()
      await expectThere(member, PODS, 'default/p')
      await member.patch(NODES, 'n', { spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] } })
      await world.settle()
      await expectGone(member, PODS, 'default/p')
    },
    MEMBER,
  )
})

describe('pods that have ended', () => {
  const ended = (name: string, at: string, reason?: string): Pod => ({
    ...aPodOn('n', name),
    metadata: { name, namespace: 'default', creationTimestamp: at },
    status: { phase: 'Failed', ...(reason === undefined ? {} : { reason }) },
  })
  const pods = [
    ended('new', '2026-01-03T00:00:00Z'),
    ended('old', '2026-01-01T00:00:00Z'),
    ended('evicted', '2026-01-04T00:00:00Z', 'Evicted'),
    ended('middle', '2026-01-02T00:00:00Z'),
  ]
  const victims = (threshold: number): (string | undefined)[] =>
    planTerminated({ ended: pods, threshold })
      .actions.flatMap((action) => (action.do === 'batch' ? action.actions : [action]))
      .map((action) => (action.do === 'delete' ? action.of.metadata.name : undefined))
  it('stay up to the limit', () => assert.deepEqual(victims(4), []))
  it('go beyond it, the evicted first, then the oldest', () => assert.deepEqual(victims(1), ['evicted', 'old', 'middle']))
  it('stay when there is no limit', () => assert.deepEqual(victims(0), []))
})

survives(podGarbage(), {
  before: [(cluster) => startNode(cluster, 'n')],
  steps: [
    (cluster) => cluster.create(held(aPodOn(undefined, 'p'))),
    (cluster) => cluster.delete(PODS, 'default/p'),
    (cluster) => cluster.patch(PODS, 'default/p', { metadata: { finalizers: null } }),
  ],
  atRest: (cluster) => expectGone(cluster, PODS, 'default/p'),
})

/** One ended pod is the limit. */
const keepOne: RunControllers = (options) =>
  runControllers({ ...options, modules: configure(options.modules, minicluster, { terminatedPodThreshold: 1 }) })

survives(terminatedPods(1), {
  controllers: keepOne,
  before: [
    (cluster) => startNode(cluster, 'n'),
    (cluster) => cluster.create(aPodOn('n', 'a')),
    (cluster) => cluster.create(aPodOn('n', 'b')),
  ],
  steps: [
    (cluster) => cluster.patch(PODS, 'default/a', { status: { phase: 'Succeeded' } }, 'status'),
    (cluster) => cluster.patch(PODS, 'default/b', { status: { phase: 'Failed', reason: 'Evicted' } }, 'status'),
  ],
  async atRest(cluster) {
    await expectThere(cluster, PODS, 'default/a')
    await expectGone(cluster, PODS, 'default/b')
  },
})
