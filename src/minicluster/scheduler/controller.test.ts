import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { story } from '../../faultsim/story.ts'
import { type Invariant, survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { EVENTS, NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Event, Node, Pod } from '../../kinds/kubernetes/types.ts'
import { amountOf } from '../../kube/amounts.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { scheduler } from './controller.ts'
import { aNode, aPod } from './testing.ts'

const MEMBER = { members: 1 }

async function place(cluster: WorldCluster, ...objects: KubeObject[]): Promise<void> {
  for (const object of objects) {
    const made = await cluster.create(object)
    if (object.kind === 'Node') await cluster.patch(NODES, made.metadata.name ?? '', { status: object.status }, 'status')
  }
}

async function nodesOf(cluster: WorldCluster): Promise<Record<string, string | undefined>> {
  const pods = (await cluster.list(PODS)) as Pod[]
  return Object.fromEntries(pods.map((pod) => [pod.metadata.name, pod.spec?.nodeName]))
}

async function eventsOf(cluster: WorldCluster, of: string): Promise<string[]> {
  const events = (await cluster.list(EVENTS)) as Event[]
  return events.filter((event) => event.involvedObject?.name === of).map(({ reason, message }) => `${reason}: ${message}`)
}

async function statusOf(cluster: WorldCluster, name: string): Promise<{ reason?: string; message?: string; nominated?: string }> {
  const pod = (await cluster.get(PODS, `default/${name}`)) as Pod | undefined
  const conditions = (pod?.status?.conditions ?? []) as { type: string; reason?: string; message?: string }[]
  const { reason, message } = findCondition(conditions, 'PodScheduled') ?? {}
  return { reason, message, nominated: pod?.status?.nominatedNodeName }
}

const SOON: Pod['spec'] = { terminationGracePeriodSeconds: 0 }
const NO_CAPACITY =
  '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.'
const TOO_SMALL =
  '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.'

describe('the scheduler', () => {
  story(
    'gives a pod a node and says so',
    async (world) => {
      await place(world.member, aNode('a'), aPod('p', { cpu: '1' }))
      await world.settle()
      assert.deepEqual(await nodesOf(world.member), { p: 'a' })
      assert.equal((await eventsOf(world.member, 'p'))[0], 'Scheduled: Successfully assigned default/p to a')
    },
    MEMBER,
  )

  story(
    'says why a pod waits, once, and places it when there is room',
    async (world) => {
      await place(world.member, aPod('p', { cpu: '3' }))
      await world.settle()
      assert.deepEqual(await statusOf(world.member, 'p'), {
        reason: 'Unschedulable',
        message: 'no nodes available to schedule pods',
        nominated: undefined,
      })
      await world.advance(10_000)
      await place(world.member, aNode('a', { cpu: '2' }))
      await world.settle()
      assert.deepEqual(await statusOf(world.member, 'p'), { reason: 'Unschedulable', message: TOO_SMALL, nominated: undefined })
      await world.advance(60_000)
      await place(world.member, aNode('b', { cpu: '4' }))
      await world.settle()
      assert.deepEqual(await nodesOf(world.member), { p: 'b' })
      const recorded = (await eventsOf(world.member, 'p')).filter((line) => /^(FailedScheduling|Scheduled)/.test(line))
      // A new node is tainted until it is known to be ready: that is reported, too, and nothing is reported twice.
      assert.deepEqual(recorded, [
        'FailedScheduling: no nodes available to schedule pods',
        `FailedScheduling: ${TOO_SMALL.replace('Insufficient cpu', 'node(s) had untolerated taint(s)')}`,
        `FailedScheduling: ${TOO_SMALL}`,
        `FailedScheduling: ${TOO_SMALL.replaceAll('0/1', '0/2').replace('1 Preemption', '2 Preemption').replace('cpu.', 'cpu, 1 node(s) had untolerated taint(s).')}`,
        'Scheduled: Successfully assigned default/p to b',
      ])
      const events = (await world.member.list(EVENTS)) as Event[]
      assert.ok(events.filter(({ involvedObject }) => involvedObject?.name === 'p').every(({ count }) => count === 1))
    },
    MEMBER,
  )

  story(
    'places the more important of those that wait first',
    async (world) => {
      await place(world.member, aNode('a', { cpu: '1' }), aPod('first', { cpu: '1', spec: SOON }))
      await world.settle()
      await place(world.member, aPod('low', { cpu: '1' }), aPriority('high', 1000, 'Never'), aPriority('higher', 2000, 'Never'))
      for (const name of ['high', 'higher']) await place(world.member, aPod(name, { cpu: '1', spec: { priorityClassName: name } }))
      await world.settle()
      assert.equal((await statusOf(world.member, 'low')).message, NO_CAPACITY)
      await world.member.delete(PODS, 'default/first')
      await world.settle()
      assert.deepEqual(await nodesOf(world.member), { low: undefined, high: undefined, higher: 'a' })
    },
    MEMBER,
  )

  story(
    'sends less important pods away for more important ones',
    async (world) => {
      await place(world.member, aNode('a', { cpu: '2' }), aPod('x', { cpu: '1' }), aPod('y', { cpu: '1', spec: SOON }))
      await world.settle()
      const victim = await world.member.get(PODS, 'default/y')
      await world.member.patch(PODS, 'default/x', { status: { phase: 'Running', startTime: '2025-01-01T00:00:00Z' } }, 'status')
      await place(world.member, aPriority('high', 1000))
      const made = await world.member.create(aPod('p', { cpu: '1', spec: { priorityClassName: 'high' } }))
      await world.settle()
      assert.deepEqual(await nodesOf(world.member), { x: 'a', p: 'a' })
      const recorded = await eventsOf(world.member, 'p')
      assert.equal(recorded[0], 'FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.')
      assert.ok(recorded.includes('Scheduled: Successfully assigned default/p to a'))
      const ofVictim = await eventsOf(world.member, 'y')
      assert.ok(ofVictim.includes(`Preempted: Preempted by pod ${made.metadata.uid} on node a`), ofVictim.join('; '))
      assert.notEqual(victim, undefined)
    },
    MEMBER,
  )

  story(
    'waits for pods that take their time to leave, and keeps their place for the one they leave for',
    async (world) => {
      await place(world.member, aNode('a', { cpu: '1' }), aPod('x', { cpu: '1', spec: { terminationGracePeriodSeconds: 30 } }))
      await world.settle()
      await place(world.member, aPriority('high', 1000), aPod('p', { cpu: '1', spec: { priorityClassName: 'high' } }))
      await world.settle()
      const leaving = (await world.member.get(PODS, 'default/x')) as Pod
      assert.notEqual(leaving.metadata.deletionTimestamp, undefined)
      const target = leaving.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
      assert.deepEqual(
        [target?.status, target?.reason, target?.message],
        ['True', 'PreemptionByScheduler', 'default-scheduler: preempting to accommodate a higher priority pod'],
      )
      assert.deepEqual(await statusOf(world.member, 'p'), {
        reason: 'Unschedulable',
        message: '0/1 nodes are available: 1 Insufficient cpu.',
        nominated: 'a',
      })
      await place(world.member, aPod('late', { cpu: '1' }))
      await world.member.delete(PODS, 'default/x', { gracePeriodSeconds: 0 })
      await world.settle()
      assert.deepEqual(await nodesOf(world.member), { p: 'a', late: undefined })
    },
    MEMBER,
  )

  story(
    'leaves gated pods and pods of others alone',
    async (world) => {
      await place(world.member, aNode('a'))
      await place(
        world.member,
        aPod('gated', { spec: { schedulingGates: [{ name: 'example.com/g' }] } }),
        aPod('other', { spec: { schedulerName: 'mine' } }),
      )
      await world.settle()
      assert.deepEqual(await nodesOf(world.member), { gated: undefined, other: undefined })
      assert.equal((await statusOf(world.member, 'gated')).reason, 'SchedulingGated')
      assert.equal((await statusOf(world.member, 'other')).reason, undefined)
      await world.member.update(PODS, 'default/gated', (pod) => {
        ;(pod as Pod).spec = { ...(pod as Pod).spec, schedulingGates: [] }
      })
      await world.settle()
      assert.deepEqual(await nodesOf(world.member), { gated: 'a', other: undefined })
    },
    MEMBER,
  )

  story(
    'selects a node for a claim that waits, and binds the pod when the claim is bound',
    async (world) => {
      await place(world.member, aNode('a'), aClass('made', 'example.com/p'), aClaim('c', 'made'), usingClaim('p', 'c'))
      await world.settle()
      const claim = await world.member.get(PERSISTENT_VOLUME_CLAIMS, 'default/c')
      assert.equal(claim?.metadata.annotations?.['volume.kubernetes.io/selected-node'], 'a')
      assert.deepEqual(await nodesOf(world.member), { p: undefined })
      assert.equal((await statusOf(world.member, 'p')).nominated, 'a')
      const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'c', uid: claim?.metadata.uid }
      await place(world.member, aVolume('v', 'made', { claimRef }))
      await world.settle()
      assert.deepEqual(await nodesOf(world.member), { p: 'a' })
    },
    MEMBER,
  )

  story(
    'matches claims that wait with volumes where there are some, each volume once',
    async (world) => {
      await place(world.member, aNode('a'), aNode('b'), aClass('there', 'kubernetes.io/no-provisioner'))
      await place(world.member, aVolume('va', 'there', onNode('a')), aVolume('vb', 'there', onNode('b')))
      for (const i of [1, 2, 3]) await place(world.member, aClaim(`c${i}`, 'there'), usingClaim(`p${i}`, `c${i}`))
      await world.settle()
      const placed = Object.entries(await nodesOf(world.member))
      assert.deepEqual(placed.filter(([, node]) => node !== undefined).length, 2)
      for (const [name, node] of placed) {
        const claim = await world.member.get(PERSISTENT_VOLUME_CLAIMS, `default/c${name.slice(1)}`)
        const volume = (claim?.spec as { volumeName?: string } | undefined)?.volumeName
        assert.equal(volume, node === undefined ? undefined : `v${node}`)
      }
      const waiting = placed.find(([, node]) => node === undefined)?.[0] ?? ''
      assert.match(
        (await statusOf(world.member, waiting)).message ?? '',
        /^0\/2 nodes are available: 2 node\(s\) didn't find available persistent volumes to bind\./,
      )
      assert.equal((await world.member.list(PERSISTENT_VOLUMES)).length, 2)
    },
    MEMBER,
  )

  story(
    'many at once find their places, and nothing is given twice',
    async (world) => {
      for (let i = 0; i < 5; i++) await place(world.member, aNode(`n${i}`, { cpu: '4', pods: 12 }))
      await world.inside(() =>
        Promise.all(
          Array.from({ length: 50 }, (_, i) => world.member.client.create(PODS, aPod(`p${i}`, { cpu: i % 2 === 0 ? '500m' : '250m' }))),
        ),
      )
      await world.settle()
      const placed = (await world.member.list(PODS)) as Pod[]
      assert.equal(placed.filter((pod) => pod.spec?.nodeName !== undefined).length, 50)
      assert.equal(overcommitted(placed, (await world.member.list(NODES)) as Node[]), undefined)
    },
    MEMBER,
  )
})

const aPriority = (name: string, value: number, preemptionPolicy?: string): KubeObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  preemptionPolicy,
})

const aClass = (name: string, provisioner: string): KubeObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner,
  volumeBindingMode: 'WaitForFirstConsumer',
})

const aClaim = (name: string, storageClassName: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'default', name },
  spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
})

const aVolume = (name: string, storageClassName: string, spec: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: { storageClassName, capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' }, ...spec },
})

const onNode = (name: string): object => ({
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] }] },
  },
})

const usingClaim = (name: string, claimName: string): Pod =>
  aPod(name, { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] } })

function overcommitted(pods: readonly Pod[], nodes: readonly Node[]): string | undefined {
  for (const { metadata, status } of nodes) {
    const there = pods.filter(
      (pod) => pod.spec?.nodeName === metadata.name && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed',
    )
    const held = there.reduce((sum, pod) => sum + amountOf('cpu', pod.spec?.containers?.[0]?.resources?.requests?.cpu), 0)
    if (held > amountOf('cpu', status?.allocatable?.cpu)) return `node ${metadata.name} has promised ${held}m CPU`
    if (there.length > amountOf('pods', status?.allocatable?.pods)) return `node ${metadata.name} has ${there.length} pods`
  }
  return undefined
}

const nothingTwice: Invariant = {
  says: 'no node has promised more than it has',
  broken: (objects) => overcommitted(objects.list('pods') as Pod[], objects.list('nodes') as Node[]),
}

survives(scheduler(), {
  steps: [
    (cluster) => place(cluster, aNode('a', { cpu: '2' }), aNode('b', { cpu: '1' })),
    (cluster) =>
      place(
        cluster,
        aPod('p1', { cpu: '1', spec: SOON }),
        aPod('p2', { cpu: '1', spec: SOON }),
        aPod('p3', { cpu: '1', spec: SOON }),
        aPod('p4', { cpu: '1', spec: SOON }),
      ),
    (cluster) => place(cluster, aPriority('high', 10), aPod('vip', { cpu: '2', spec: { priorityClassName: 'high' } })),
    (cluster) => cluster.delete(PODS, 'default/vip', { gracePeriodSeconds: 0 }),
  ],
  invariants: [nothingTwice],
  async atRest(cluster) {
    const pods = (await cluster.list(PODS)) as Pod[]
    assert.deepEqual(
      pods.filter((pod) => pod.spec?.nodeName === undefined).map((pod) => pod.metadata.name),
      [],
    )
  },
})

describe('with volumes', () =>
  survives(scheduler(), {
    steps: [
      (cluster) => place(cluster, aNode('a', { cpu: '2' }), aNode('b', { cpu: '2' }), aClass('there', 'kubernetes.io/no-provisioner')),
      (cluster) => place(cluster, aVolume('va', 'there', onNode('a')), aVolume('vb', 'there', onNode('b'))),
      (cluster) => place(cluster, aClaim('c1', 'there'), usingClaim('p1', 'c1'), aClaim('c2', 'there'), usingClaim('p2', 'c2')),
    ],
    invariants: [nothingTwice],
    async atRest(cluster) {
      assert.deepEqual(Object.values(await nodesOf(cluster)).sort(), ['a', 'b'])
    },
  }))
