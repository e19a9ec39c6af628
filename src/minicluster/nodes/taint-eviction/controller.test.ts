import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatTime } from '../../../base/clock.ts'
import { conditionsOf, expectGone, expectThere } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Taint, Toleration } from '../../../kinds/kubernetes/types.ts'
import { eventsOf } from '../../../runtime/workloads/pod/testing.ts'
import { aPodOn, startNode } from '../testing.ts'
import { plan, taintEviction } from './controller.ts'

const MEMBER = { members: 1 }
const taint = (
  cluster: WorldCluster,
  taints: object[] | null = [{ key: 'maintenance', value: 'yes', effect: 'NoExecute' }],
): Promise<unknown> => cluster.patch(NODES, 'n', { spec: { taints } })

describe('the end of a pod', () => {
  const now = Date.UTC(2026, 0, 1)
  const at = (secondsAgo: number): string => formatTime(now - secondsAgo * 1000)
  const tolerates = (key: string, tolerationSeconds?: number): Toleration => ({ key, operator: 'Exists', tolerationSeconds })
  const cases: [string, Taint[], Toleration[], number | 'now' | undefined][] = [
    ['no taint', [], [], undefined],
    ['not tolerated', [{ key: 'a', effect: 'NoExecute' }], [tolerates('b')], 'now'],
    ['tolerated for ever', [{ key: 'a', effect: 'NoExecute' }], [tolerates('a')], undefined],
    ['tolerated for a while', [{ key: 'a', effect: 'NoExecute', timeAdded: at(10) }], [tolerates('a', 60)], 50],
    ['tolerated long enough', [{ key: 'a', effect: 'NoExecute', timeAdded: at(60) }], [tolerates('a', 60)], 'now'],
    ['tolerated for no time', [{ key: 'a', effect: 'NoExecute' }], [tolerates('a', -5)], 'now'],
    ['since it was seen', [{ key: 'a', effect: 'NoExecute' }], [tolerates('a', 60)], 55],
    [
      'whichever ends first',
      [
        { key: 'a', effect: 'NoExecute', timeAdded: at(10) },
        { key: 'b', effect: 'NoExecute', timeAdded: at(1) },
      ],
      [tolerates('a', 300), tolerates('b', 20)],
      19,
    ],
    [
      'the first toleration that matches counts',
      [{ key: 'a', effect: 'NoExecute', timeAdded: at(0) }],
      [tolerates('a', 30), tolerates('a')],
      30,
    ],
    ['an odd time is none', [{ key: 'a', effect: 'NoExecute', timeAdded: 'yesterday' }], [tolerates('a', 60)], 55],
  ]
  for (const [name, taints, tolerations, expected] of cases)
    it(name, () => {
      const pod = { ...aPodOn('n', 'p', tolerations), metadata: { name: 'p', namespace: 'default', creationTimestamp: at(1000) } }
      const { actions, requeueAfterMs } = plan({ pod, taints, seenMs: now - 5000, wasDue: false, nowMs: now })
      assert.equal(requeueAfterMs, typeof expected === 'number' ? expected * 1000 : undefined)
      assert.deepEqual(
        actions.map(({ do: what }) => what),
        expected === 'now' ? ['patch', 'delete'] : [],
      )
    })
})

describe('pods on a node with a NoExecute taint', () => {
  story(
    'go at once when they do not tolerate it, with a condition and news',
    async (world) => {
      const { member } = world
      await startNode(member, 'n')
      const kept = { ...aPodOn('n', 'p'), metadata: { name: 'p', namespace: 'default', finalizers: ['example.com/look'] } }
      await member.create(kept)
      await member.create(aPodOn('n', 'tolerant', [{ operator: 'Exists' }]))
      await world.settle()
      await taint(member)
      await world.settle()
      const going = await expectThere(member, PODS, 'default/p')
      assert.ok(going.metadata.deletionTimestamp !== undefined)
      const { status, reason, message } = conditionsOf(going).get('DisruptionTarget') ?? {}
      assert.deepEqual([status, reason, message], ['True', 'DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint'])
      assert.deepEqual(await eventsOf(member, 'Pod', 'p'), ['TaintManagerEviction: Marking for deletion Pod default/p'])
      assert.equal((await expectThere(member, PODS, 'default/tolerant')).metadata.deletionTimestamp, undefined)
    },
    MEMBER,
  )

  story(
    'go when their toleration ends, counted from when the taint was added',
    async (world) => {
      const { member } = world
      await startNode(member, 'n')
      await member.create(aPodOn('n', 'p', [{ key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }]))
      await taint(member)
      await world.advance(30_000)
      await expectThere(member, PODS, 'default/p')
      await world.advance(31_000)
      await world.settle()
      assert.ok((await expectThere(member, PODS, 'default/p')).metadata.deletionTimestamp !== undefined)
    },
    MEMBER,
  )

  story(
    'stay when the taint goes in time, and are told',
    async (world) => {
      const { member } = world
      await startNode(member, 'n')
      await member.create(aPodOn('n', 'p', [{ key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }]))
      await taint(member)
      await world.advance(30_000)
      await taint(member, null)
      await world.advance(60_000)
      assert.equal((await expectThere(member, PODS, 'default/p')).metadata.deletionTimestamp, undefined)
      assert.deepEqual(await eventsOf(member, 'Pod', 'p'), ['TaintManagerEviction: Cancelling deletion of Pod default/p'])
    },
    MEMBER,
  )

  story(
    'that is unreachable go after the five minutes that every pod has by default',
    async (world) => {
      const { member } = world
      await startNode(member, 'other')
      await startNode(member, 'n')
      await member.create(aPodOn('n', 'p'))
      await member.patch(NODES, 'n', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }, 'status')
      await world.advance(299_000)
      assert.equal((await expectThere(member, PODS, 'default/p')).metadata.deletionTimestamp, undefined)
      await world.advance(3000)
      assert.ok((await expectThere(member, PODS, 'default/p')).metadata.deletionTimestamp !== undefined)
    },
    MEMBER,
  )
})

survives(taintEviction(), {
  before: [(cluster) => startNode(cluster, 'n'), (cluster) => cluster.create(aPodOn('n', 'p'))],
  steps: [(cluster) => taint(cluster), (cluster) => cluster.delete(PODS, 'default/p', { gracePeriodSeconds: 0 })],
  atRest: (cluster) => expectGone(cluster, PODS, 'default/p'),
})
