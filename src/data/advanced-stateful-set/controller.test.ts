import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone, expectThere } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import type { World } from '../../faultsim/world/index.ts'
import { AdvancedStatefulSet } from '../../kinds/fluid/advanced-stateful-set.ts'
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { owners, ready, revisionsIn, summary, templateAt } from '../../minicluster/workloads/stateful-set/testing.ts'
import { allReady, aPod, eventsOf, podNames, podsIn } from '../../runtime/workloads/pod/testing.ts'
import { aSet, change, claims, member, rolling, statusIn, uidsIn } from './testing.ts'
import { SPECIFIED_DELETE } from './update.ts'

const nodes = { ...member, nodes: 1 }

const mark = (world: World, pod: string): Promise<unknown> =>
  world.member.patch(PODS, `default/${pod}`, { metadata: { labels: { [SPECIFIED_DELETE]: 'true' } } })

async function settled(world: World): Promise<void> {
  await world.settle()
  await allReady(world)
}

describe('an AdvancedStatefulSet', () => {
  story(
    'has the pods of a StatefulSet, with their identity, claims and owner, and a status that can be scaled',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aSet({ replicas: 2, ...claims, ordinals: { start: 5 }, reserveOrdinals: [6] }))
      await settled(world)
      const status = await statusIn(cluster)
      const { updateRevision: revision } = status
      const pod: Pod = await expectThere(cluster, PODS, 'default/web-7')
      assert.deepEqual(pod.metadata.labels, {
        app: 'web',
        'apps.kubernetes.io/pod-index': '7',
        'controller-revision-hash': revision,
        'statefulset.kubernetes.io/pod-name': 'web-7',
      })
      assert.deepEqual([pod.spec?.hostname, pod.spec?.subdomain], ['web-7', 'web'])
      assert.deepEqual(pod.spec?.volumes, [{ name: 'www', persistentVolumeClaim: { claimName: 'www-web-7' } }])
      const [owner] = pod.metadata.ownerReferences ?? []
      assert.deepEqual([owner?.apiVersion, owner?.kind, owner?.controller], ['workload.fluid.io/v1alpha1', 'AdvancedStatefulSet', true])
      assert.deepEqual(status, {
        ...{ observedGeneration: 1, replicas: 2, readyReplicas: 2, availableReplicas: 2, currentReplicas: 2, updatedReplicas: 2 },
        ...{ updatedReadyReplicas: 2, updatedAvailableReplicas: 2, currentRevision: revision, updateRevision: revision },
        ...{ collisionCount: 0, labelSelector: 'app=web' },
      })
      await cluster.patch(AdvancedStatefulSet.resource, 'default/web', { spec: { replicas: 3 } }, 'scale')
      await settled(world)
      assert.deepEqual(await podNames(cluster), ['web-5', 'web-7', 'web-8'])
      assert.deepEqual((await eventsOf(cluster, 'AdvancedStatefulSet', 'web')).slice(-2), [
        'SuccessfulCreate: Create Claim www-web-8 Pod web-8 in AdvancedStatefulSet web success',
        'SuccessfulCreate: Create Pod web-8 in AdvancedStatefulSet web successful',
      ])
      await cluster.delete(AdvancedStatefulSet.resource, 'default/web')
      await world.settle()
      assert.deepEqual(await podNames(cluster), [])
      assert.deepEqual(await owners(cluster), ['www-web-5', 'www-web-7', 'www-web-8'], 'claims are retained')
    },
    member,
  )

  for (const podManagementPolicy of ['Parallel', 'OrderedReady'])
    story(
      `lets one write choose who goes, and fills the smallest ordinals when it grows again (${podManagementPolicy})`,
      async (world) => {
        const { member: cluster } = world
        const persistentVolumeClaimRetentionPolicy = { whenScaled: 'Delete' }
        await cluster.create(aSet({ ...claims, podManagementPolicy, persistentVolumeClaimRetentionPolicy }))
        await settled(world)
        const before = await uidsIn(cluster)
        await change(cluster, { replicas: 2, reserveOrdinals: [0] })
        await settled(world)
        assert.deepEqual(await uidsIn(cluster), { 'web-1': before['web-1'], 'web-2': before['web-2'] })
        await expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, 'default/www-web-0')
        assert.equal((await statusIn(cluster)).readyReplicas, 2)
        await change(cluster, { replicas: 4, reserveOrdinals: null })
        await settled(world)
        const { 'web-0': again, ...others } = await uidsIn(cluster)
        assert.notEqual(again, before['web-0'])
        assert.deepEqual(Object.keys(others), ['web-1', 'web-2', 'web-3'])
        assert.deepEqual([others['web-1'], others['web-2']], [before['web-1'], before['web-2']])
      },
      member,
    )

  story(
    'in order: a pod that takes the place of a reserved one is ready before that one goes',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aSet({ replicas: 2, podManagementPolicy: 'OrderedReady' }))
      await settled(world)
      await change(cluster, { reserveOrdinals: ['0-0'] })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:one')
      await ready(world, 'web-2')
      assert.equal(await summary(cluster), 'web-1:one+ web-2:one+')
    },
    member,
  )

  story(
    'creates no more at once than scaleStrategy.maxUnavailable says',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aSet({ replicas: 5, scaleStrategy: { maxUnavailable: '40%' } }))
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one web-1:one')
      await ready(world, 'web-1')
      assert.equal(await summary(cluster), 'web-0:one web-1:one+ web-2:one')
      await allReady(world)
      assert.equal((await statusIn(cluster)).readyReplicas, 5)
    },
    member,
  )

  story(
    'leaves the pod of a stranger alone that has the name of one of its own, and takes the name when it is free',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aPod('web-1', { labels: { other: 'x' } }))
      await cluster.create(aSet())
      await settled(world)
      const stranger: Pod = await expectThere(cluster, PODS, 'default/web-1')
      assert.deepEqual([stranger.metadata.labels, stranger.metadata.ownerReferences], [{ other: 'x' }, undefined])
      await change(cluster, { template: templateAt('two') })
      await settled(world)
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:one+', 'one is missing already')
      await cluster.delete(PODS, 'default/web-1')
      await settled(world)
      assert.equal(await summary(cluster), 'web-0:two+ web-1:two+ web-2:two+')
    },
    member,
  )

  story(
    'makes a pod again that is marked, and chooses nobody by the mark',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aSet())
      await settled(world)
      const before = await uidsIn(cluster)
      await mark(world, 'web-0')
      await mark(world, 'web-1')
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one web-1:one+ web-2:one+', 'one at a time')
      await settled(world)
      const after = await uidsIn(cluster)
      assert.deepEqual(Object.keys(after), ['web-0', 'web-1', 'web-2'])
      assert.equal(after['web-2'], before['web-2'])
      assert.ok(after['web-0'] !== before['web-0'] && after['web-1'] !== before['web-1'])
      await ready(world, 'web-0', false)
      await mark(world, 'web-0')
      await change(cluster, { replicas: 2 })
      await settled(world)
      assert.deepEqual(await podNames(cluster), ['web-0', 'web-1'], 'the highest goes')
      const marked = templateAt('two')
      await change(cluster, { template: { ...marked, metadata: { labels: { app: 'web', [SPECIFIED_DELETE]: '' } } } })
      await settled(world)
      assert.equal(await summary(cluster), 'web-0:two+ web-1:two+', 'a template cannot ask for it')
    },
    member,
  )
})

describe('the update of an AdvancedStatefulSet', () => {
  story(
    'takes as many at once as may be unavailable, from the top, down to the partition, and stands still when paused',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aSet({ replicas: 4, reserveOrdinals: [2], ...rolling({ maxUnavailable: '50%', partition: 1, paused: true }) }))
      await settled(world)
      await change(cluster, { template: templateAt('two') })
      await settled(world)
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-3:one+ web-4:one+')
      await change(cluster, { updateStrategy: { rollingUpdate: { paused: false } } })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-3:two web-4:two')
      await ready(world, 'web-3')
      assert.equal(await summary(cluster), 'web-0:one+ web-1:two web-3:two+ web-4:two')
      await allReady(world)
      assert.equal(await summary(cluster), 'web-0:one+ web-1:two+ web-3:two+ web-4:two+')
      const { currentReplicas, updatedReplicas, currentRevision, updateRevision } = await statusIn(cluster)
      assert.deepEqual([currentReplicas, updatedReplicas], [1, 3])
      assert.notEqual(currentRevision, updateRevision)
      await cluster.delete(PODS, 'default/web-0')
      await settled(world)
      assert.match(await summary(cluster), /web-0:one\+/, 'below the partition')
      await change(cluster, { updateStrategy: { rollingUpdate: { partition: 0 } } })
      await settled(world)
      const done = await statusIn(cluster)
      assert.deepEqual([done.currentRevision, done.currentReplicas], [done.updateRevision, 4])
    },
    member,
  )

  story(
    'replaces first what is broken, and waits until pods were ready for long enough',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aSet({ ...rolling({ minReadySeconds: 30 }) }))
      await settled(world)
      await world.advance(30_000)
      await ready(world, 'web-2', false)
      await change(cluster, { template: templateAt('bad') })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:bad')
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:two')
      await ready(world, 'web-2')
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:two+')
      assert.equal((await statusIn(cluster)).updatedAvailableReplicas, 0)
      await world.advance(30_000)
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:two web-2:two+')
    },
    member,
  )

  story(
    'follows priorities instead of ordinals where it is unordered; OnDelete waits for people',
    async (world) => {
      const { member: cluster } = world
      const weightPriority = [{ weight: 9, matchSelector: { matchLabels: { 'apps.kubernetes.io/pod-index': '1' } } }]
      await cluster.create(aSet({ ...rolling({ partition: 2, unorderedUpdate: { priorityStrategy: { weightPriority } } }) }))
      await settled(world)
      await change(cluster, { template: templateAt('two') })
      await settled(world)
      assert.equal(await summary(cluster), 'web-0:one+ web-1:two+ web-2:one+')
      const orderPriority = [{ orderedKey: 'statefulset.kubernetes.io/pod-name' }]
      const unorderedUpdate = { priorityStrategy: { weightPriority: null, orderPriority } }
      await change(cluster, { updateStrategy: { rollingUpdate: { partition: 1, unorderedUpdate } } })
      await settled(world)
      assert.equal(await summary(cluster), 'web-0:one+ web-1:two+ web-2:two+')
      await change(cluster, { updateStrategy: { type: 'OnDelete', rollingUpdate: null }, template: templateAt('three') })
      await cluster.delete(PODS, 'default/web-2')
      await settled(world)
      assert.equal(await summary(cluster), 'web-0:one+ web-1:two+ web-2:three+')
      assert.deepEqual(await revisionsIn(cluster), ['1:one', '2:two', '3:three'])
    },
    member,
  )

  story(
    'happens in place where it can: the pods stay, their containers start again, one pod after the other',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aSet({ ...rolling({ podUpdatePolicy: 'InPlaceIfPossible' }) }))
      await world.settle()
      const before = await uidsIn(cluster)
      const next = templateAt('two')
      await change(cluster, { template: { ...next, metadata: { labels: { app: 'web', more: 'yes' }, annotations: { note: 'new' } } } })
      await world.settle()
      assert.deepEqual(await uidsIn(cluster), before)
      const { updateRevision, updatedReadyReplicas, currentRevision } = await statusIn(cluster)
      assert.deepEqual([updatedReadyReplicas, currentRevision], [3, updateRevision])
      for (const { metadata, spec, status } of await podsIn(cluster)) {
        assert.deepEqual([metadata.labels?.more, metadata.labels?.['controller-revision-hash']], ['yes', updateRevision])
        assert.equal(metadata.annotations?.note, 'new')
        const [container] = status?.containerStatuses ?? []
        assert.deepEqual([spec?.containers?.[0]?.image, container?.image, container?.restartCount], ['two', 'two', 1])
      }
      assert.match((await eventsOf(cluster, 'AdvancedStatefulSet', 'web')).at(-1) ?? '', /^SuccessfulUpdatePodInPlace: update of Pod web-0/)
      await change(cluster, { template: { ...templateAt('two'), spec: { ...templateAt('two').spec, priority: 0, hostname: 'x' } } })
      await world.settle()
      const after = await uidsIn(cluster)
      assert.deepEqual(Object.keys(after), Object.keys(before))
      for (const [name, uid] of Object.entries(after)) assert.notEqual(uid, before[name], `${name} had to be made again`)
    },
    nodes,
  )

  story(
    'in place waits until a node has started the container again, though the pod still looks ready',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aSet({ replicas: 2, ...rolling({ podUpdatePolicy: 'InPlaceOnly' }) }))
      await settled(world)
      const runs = (pod: string, image: string, containerID: string): Promise<unknown> =>
        cluster.patch(PODS, `default/${pod}`, { status: { containerStatuses: [{ name: 'main', image, containerID }] } }, 'status')
      for (const pod of ['web-0', 'web-1']) await runs(pod, 'docker.io/one', 'a')
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:two+')
      assert.deepEqual((await statusIn(cluster)).readyReplicas, 1)
      await runs('web-1', 'docker.io/two', 'b')
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:two+ web-1:two+')
      await runs('web-0', 'docker.io/two', 'b')
      await world.settle()
      assert.deepEqual((await statusIn(cluster)).updatedReadyReplicas, 2)

      const before = await uidsIn(cluster)
      await change(cluster, { template: { ...templateAt('two'), spec: { ...templateAt('two').spec, hostNetwork: true } } })
      await settled(world)
      assert.deepEqual(await uidsIn(cluster), before)
      assert.match(
        (await eventsOf(cluster, 'AdvancedStatefulSet', 'web')).at(-1) ?? '',
        /FailedUpdatePodInPlace: web-1, web-0 stay as they are, because the template differs in more than images/,
      )
      await cluster.delete(PODS, 'default/web-1')
      await settled(world)
      const made: Pod = await expectThere(cluster, PODS, 'default/web-1')
      assert.equal(made.spec?.hostNetwork, true)
    },
    member,
  )
})
