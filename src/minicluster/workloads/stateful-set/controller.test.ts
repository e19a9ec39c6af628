import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone, expectThere } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod, StatefulSetSpec } from '../../../kinds/kubernetes/types.ts'
import { allReady, aPod, eventsOf, podNames, podsIn } from '../../../runtime/workloads/pod/testing.ts'
import { aStatefulSet, change, claimsIn, owners, ready, revisionsIn, statusIn, summary, templateAt, theSet, withClaims } from './testing.ts'

const member = { members: 1 }
const rolling = (rollingUpdate: Record<string, unknown>): StatefulSetSpec => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })

const HOLD = 'example.com/hold'
const held = (image: string) => {
  const template = templateAt(image)
  return { ...template, metadata: { ...template.metadata, finalizers: [HOLD] } }
}
const letGo = (cluster: Parameters<typeof summary>[0], name: string): Promise<unknown> =>
  cluster.patch(PODS, `default/${name}`, { metadata: { finalizers: null } })

describe('a StatefulSet in order', () => {
  story(
    'brings up one pod after another, each with its name, host, index and claims',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ ...withClaims, ordinals: { start: 5 } }))
      await world.settle()
      assert.equal(await summary(cluster), 'web-5:one')
      const pod = (await expectThere(cluster, PODS, 'default/web-5')) as Pod
      const { updateRevision } = await statusIn(cluster)
      assert.deepEqual(pod.metadata.labels, {
        app: 'web',
        'apps.kubernetes.io/pod-index': '5',
        'controller-revision-hash': updateRevision,
        'statefulset.kubernetes.io/pod-name': 'web-5',
      })
      assert.equal(pod.metadata.generateName, 'web-')
      assert.deepEqual([pod.spec?.hostname, pod.spec?.subdomain], ['web-5', 'web'])
      assert.deepEqual(pod.spec?.volumes, [{ name: 'www', persistentVolumeClaim: { claimName: 'www-web-5' } }])
      assert.deepEqual(
        (await claimsIn(cluster)).map(({ metadata }) => [metadata.name, metadata.labels]),
        [['www-web-5', { app: 'web' }]],
      )

      await ready(world, 'web-5')
      assert.equal(await summary(cluster), 'web-5:one+ web-6:one')
      await allReady(world)
      assert.equal(await summary(cluster), 'web-5:one+ web-6:one+ web-7:one+')
      assert.deepEqual(await statusIn(cluster), {
        observedGeneration: 1,
        replicas: 3,
        readyReplicas: 3,
        availableReplicas: 3,
        currentReplicas: 3,
        updatedReplicas: 3,
        currentRevision: updateRevision,
        updateRevision,
        collisionCount: 0,
      })
      assert.deepEqual(await eventsOf(cluster, 'StatefulSet', 'web'), [
        'SuccessfulCreate: Create Claim www-web-5 Pod web-5 in StatefulSet web success',
        'SuccessfulCreate: Create Pod web-5 in StatefulSet web successful',
        'SuccessfulCreate: Create Claim www-web-6 Pod web-6 in StatefulSet web success',
        'SuccessfulCreate: Create Pod web-6 in StatefulSet web successful',
        'SuccessfulCreate: Create Claim www-web-7 Pod web-7 in StatefulSet web success',
        'SuccessfulCreate: Create Pod web-7 in StatefulSet web successful',
      ])
    },
    member,
  )

  story(
    'goes down from the top, one at a time, waits for each to be gone, and keeps the claims',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ ...withClaims, template: held('one') }))
      await world.settle()
      await allReady(world)
      await change(cluster, { replicas: 1 })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:one-')
      await letGo(cluster, 'web-2')
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one-')
      assert.equal((await statusIn(cluster)).replicas, 2)
      await letGo(cluster, 'web-1')
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+')
      assert.deepEqual(await owners(cluster), ['www-web-0', 'www-web-1', 'www-web-2'])
      assert.deepEqual((await eventsOf(cluster, 'StatefulSet', 'web')).slice(-2), [
        'SuccessfulDelete: Delete Pod web-2 in StatefulSet web successful',
        'SuccessfulDelete: Delete Pod web-1 in StatefulSet web successful',
      ])
    },
    member,
  )

  story(
    'does not scale while one that stays is unwell, nor past two unwell ones',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ replicas: 4 }))
      await world.settle()
      await allReady(world)
      await ready(world, 'web-0', false)
      await change(cluster, { replicas: 1 })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one web-1:one+ web-2:one+ web-3:one+')
      await ready(world, 'web-3', false)
      await ready(world, 'web-2', false)
      await ready(world, 'web-0')
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:one web-3:one')
      await ready(world, 'web-2')
      assert.equal(await summary(cluster), 'web-0:one+')
    },
    member,
  )

  story(
    'waits until a pod has been ready for long enough',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ replicas: 2, minReadySeconds: 30 }))
      await world.settle()
      await ready(world, 'web-0')
      const { readyReplicas, availableReplicas } = await statusIn(cluster)
      assert.deepEqual([readyReplicas, availableReplicas], [1, 0])
      await world.advance(29_000)
      assert.deepEqual(await podNames(cluster), ['web-0'])
      await world.advance(1000)
      await world.settle()
      assert.deepEqual(await podNames(cluster), ['web-0', 'web-1'])
      assert.equal((await statusIn(cluster)).availableReplicas, 1)
    },
    member,
  )

  story(
    'makes a failed or finished pod again, under its name and with its claim',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ ...withClaims, replicas: 2 }))
      await world.settle()
      await allReady(world)
      for (const phase of ['Failed', 'Succeeded']) {
        const before = await expectThere(cluster, PODS, 'default/web-0')
        await cluster.patch(PODS, 'default/web-0', { status: { phase, conditions: null } }, 'status')
        await world.settle()
        const after = await expectThere(cluster, PODS, 'default/web-0')
        assert.notEqual(after.metadata.uid, before.metadata.uid)
        assert.equal(await summary(cluster), 'web-0:one web-1:one+')
        await ready(world, 'web-0')
      }
      assert.deepEqual(await owners(cluster), ['www-web-0', 'www-web-1'])
    },
    member,
  )

  story(
    'leaves a stranger with the name of its pod alone, and goes on when it is gone',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aPod('web-0', { labels: { app: 'other' } }))
      await cluster.create(aStatefulSet({ replicas: 1 }))
      await world.settle()
      assert.equal((await expectThere(cluster, PODS, 'default/web-0')).metadata.ownerReferences, undefined)
      assert.equal((await statusIn(cluster)).replicas, 0)
      await cluster.delete(PODS, 'default/web-0')
      await world.settle()
      assert.equal((await expectThere(cluster, PODS, 'default/web-0')).metadata.ownerReferences?.[0]?.kind, 'StatefulSet')
    },
    member,
  )

  story(
    'adopts an orphan of its name and repairs its identity',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aPod('web-0', { labels: { app: 'web' } }))
      await world.settle()
      await cluster.create(aStatefulSet({ replicas: 1, updateStrategy: { type: 'OnDelete' } }))
      await world.settle()
      await ready(world, 'web-0')
      const { metadata } = await expectThere(cluster, PODS, 'default/web-0')
      assert.deepEqual(
        metadata.ownerReferences?.map(({ kind, name, controller }) => [kind, name, controller]),
        [['StatefulSet', 'web', true]],
      )
      assert.equal(metadata.labels?.['statefulset.kubernetes.io/pod-name'], 'web-0')
      assert.deepEqual(await eventsOf(cluster, 'StatefulSet', 'web'), ['SuccessfulUpdate: Update Pod web-0 in StatefulSet web successful'])
    },
    member,
  )
})

describe('a StatefulSet that is updated', () => {
  story(
    'replaces pods from the top, each only when the one above is ready',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet())
      await world.settle()
      await allReady(world)
      const before = (await statusIn(cluster)).currentRevision
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:two')
      const { currentRevision, updateRevision, currentReplicas, updatedReplicas } = await statusIn(cluster)
      assert.equal(currentRevision, before)
      assert.notEqual(updateRevision, before)
      assert.deepEqual([currentReplicas, updatedReplicas], [2, 1])
      await ready(world, 'web-2')
      assert.equal(await summary(cluster), 'web-0:one+ web-1:two web-2:two+')
      await allReady(world)
      assert.equal(await summary(cluster), 'web-0:two+ web-1:two+ web-2:two+')
      const after = await statusIn(cluster)
      assert.equal(after.currentRevision, updateRevision)
      assert.deepEqual([after.currentReplicas, after.updatedReplicas], [3, 3])
      assert.deepEqual(await revisionsIn(cluster), ['1:one', '2:two'])
    },
    member,
  )

  story(
    'stops at the partition, makes pods below it as they were, and goes on when it is lowered',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet(rolling({ partition: 2 })))
      await world.settle()
      await allReady(world)
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      await allReady(world)
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:two+')
      await cluster.delete(PODS, 'default/web-0')
      await world.settle()
      await allReady(world)
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:two+')
      const { currentRevision, updateRevision, currentReplicas, updatedReplicas } = await statusIn(cluster)
      assert.notEqual(currentRevision, updateRevision)
      assert.deepEqual([currentReplicas, updatedReplicas], [2, 1])
      await change(cluster, rolling({ partition: 0 }))
      await world.settle()
      await allReady(world)
      assert.equal(await summary(cluster), 'web-0:two+ web-1:two+ web-2:two+')
    },
    member,
  )

  story(
    'is rolled back to a revision it had, which becomes the newest, and keeps as much history as asked',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ replicas: 1, revisionHistoryLimit: 1 }))
      await world.settle()
      await allReady(world)
      const first = (await statusIn(cluster)).currentRevision
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      await allReady(world)
      await change(cluster, { template: templateAt('one') })
      await world.settle()
      await allReady(world)
      assert.deepEqual(await revisionsIn(cluster), ['2:two', '3:one'])
      assert.equal((await statusIn(cluster)).currentRevision, first)
      assert.equal(await summary(cluster), 'web-0:one+')
      await change(cluster, { template: templateAt('three') })
      await world.settle()
      await allReady(world)
      assert.deepEqual(await revisionsIn(cluster), ['3:one', '4:three'])
    },
    member,
  )

  story(
    'stays with a broken pod even when the template is mended, until somebody deletes it',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet())
      await world.settle()
      await allReady(world)
      await change(cluster, { template: templateAt('broken') })
      await world.settle()
      await change(cluster, { template: templateAt('one') })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:broken')
      await cluster.delete(PODS, 'default/web-2')
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:one')
    },
    member,
  )

  story(
    'with OnDelete waits for people',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ replicas: 2, updateStrategy: { type: 'OnDelete' } }))
      await world.settle()
      await allReady(world)
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+')
      await cluster.delete(PODS, 'default/web-0')
      await world.settle()
      await allReady(world)
      assert.equal(await summary(cluster), 'web-0:two+ web-1:one+')
      const { currentRevision, updateRevision, updatedReplicas } = await statusIn(cluster)
      assert.notEqual(currentRevision, updateRevision)
      assert.equal(updatedReplicas, 1)
    },
    member,
  )
})

describe('a StatefulSet in parallel', () => {
  story(
    'creates and deletes at once, and updates one by one',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ ...withClaims, podManagementPolicy: 'Parallel' }))
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one web-1:one web-2:one')
      assert.equal((await claimsIn(cluster)).length, 3)
      await allReady(world)
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:two')
      await change(cluster, { replicas: 1 })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:two')
    },
    member,
  )

  story(
    'takes millions of replicas in portions',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ replicas: 2 ** 31 - 1 }))
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one')
    },
    member,
  )
})

describe('a StatefulSet on simulated nodes', () => {
  story(
    'comes up, is updated and goes',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet())
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:one+ web-1:one+ web-2:one+')
      await change(cluster, { template: templateAt('two') })
      await world.settle()
      assert.equal(await summary(cluster), 'web-0:two+ web-1:two+ web-2:two+')
      const { currentRevision, updateRevision, availableReplicas } = await statusIn(cluster)
      assert.deepEqual([currentRevision, availableReplicas], [updateRevision, 3])
      const order = (await eventsOf(cluster, 'StatefulSet', 'web')).map((one) => one.replace(/^.*: (\w+) Pod (\S+) .*$/, '$1 $2'))
      assert.deepEqual(order, [
        ...['Create web-0', 'Create web-1', 'Create web-2'],
        // A repeated event increments its count.
        ...['Delete web-2', 'Delete web-1', 'Delete web-0'],
      ])
      await cluster.delete(STATEFUL_SETS, 'default/web')
      await world.settle()
      assert.deepEqual(await podNames(cluster), [])
    },
    { members: 1, nodes: 2 },
  )
})

describe('the claims of a StatefulSet', () => {
  story(
    'are kept or deleted with the pods that are scaled away and with the set, as the policy says',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ ...withClaims, replicas: 2 }))
      await world.settle()
      await allReady(world)
      assert.deepEqual(await owners(cluster), ['www-web-0', 'www-web-1'])
      await change(cluster, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' } })
      await world.settle()
      assert.deepEqual(await owners(cluster), ['www-web-0<StatefulSet web', 'www-web-1<StatefulSet web'])
      await change(cluster, { replicas: 1 })
      await world.settle()
      assert.deepEqual(await owners(cluster), ['www-web-0<StatefulSet web'])
      await change(cluster, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } })
      await world.settle()
      assert.deepEqual(await owners(cluster), ['www-web-0'])
      await change(cluster, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' } })
      await world.settle()
      await cluster.delete(STATEFUL_SETS, 'default/web')
      await world.settle()
      assert.deepEqual([await podNames(cluster), await owners(cluster), await revisionsIn(cluster)], [[], [], []])
    },
    member,
  )

  story(
    'are waited for while one of the same name is on its way out',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ ...withClaims, replicas: 1 }))
      await world.settle()
      await cluster.patch(PERSISTENT_VOLUME_CLAIMS, 'default/www-web-0', { metadata: { finalizers: ['example.com/hold'] } })
      await cluster.delete(PERSISTENT_VOLUME_CLAIMS, 'default/www-web-0')
      await cluster.delete(PODS, 'default/web-0')
      await world.settle()
      assert.deepEqual(await podNames(cluster), [])
      assert.equal(
        (await eventsOf(cluster, 'StatefulSet', 'web')).at(-1),
        'FailedCreate: Create Pod web-0 in StatefulSet web failed error: pvc www-web-0 is being deleted',
      )
      await cluster.patch(PERSISTENT_VOLUME_CLAIMS, 'default/www-web-0', { metadata: { finalizers: null } })
      await world.settle()
      assert.deepEqual(await podNames(cluster), ['web-0'])
      await expectThere(cluster, PERSISTENT_VOLUME_CLAIMS, 'default/www-web-0')
    },
    member,
  )

  story(
    'come back when a pod still waits for one that was deleted',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ ...withClaims, replicas: 1 }))
      await world.settle()
      await cluster.patch(PERSISTENT_VOLUME_CLAIMS, 'default/www-web-0', { metadata: { finalizers: null } })
      await cluster.delete(PERSISTENT_VOLUME_CLAIMS, 'default/www-web-0')
      await world.settle()
      await expectThere(cluster, PERSISTENT_VOLUME_CLAIMS, 'default/www-web-0')
    },
    member,
  )
})

describe('the revisions of a StatefulSet', () => {
  story(
    'get another name when theirs is taken by something else',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ replicas: 1 }))
      await world.settle()
      const { currentRevision = '' } = await statusIn(cluster)
      await cluster.delete(STATEFUL_SETS, 'default/web')
      await world.settle()
      await cluster.create({
        ...{ apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: currentRevision, namespace: 'default' } },
        ...{ data: { spec: {} }, revision: 7 },
      })
      await cluster.create(aStatefulSet({ replicas: 1 }))
      await world.settle()
      const status = await statusIn(cluster)
      assert.notEqual(status.currentRevision, currentRevision)
      assert.equal(status.collisionCount, 1)
      await expectThere(cluster, CONTROLLER_REVISIONS, `default/${status.currentRevision}`)
      await expectThere(cluster, PODS, 'default/web-0')
    },
    member,
  )

  story(
    'are orphaned with the pods and adopted by a set of the same name',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aStatefulSet({ replicas: 1 }))
      await world.settle()
      await allReady(world)
      const [before] = await podsIn(cluster)
      await cluster.delete(STATEFUL_SETS, 'default/web', { propagationPolicy: 'Orphan' })
      await world.settle()
      await expectGone(cluster, STATEFUL_SETS, 'default/web')
      await cluster.create(aStatefulSet({ replicas: 1 }))
      await world.settle()
      const [after] = await podsIn(cluster)
      assert.equal(after?.metadata.uid, before?.metadata.uid)
      assert.equal(after?.metadata.ownerReferences?.[0]?.uid, (await theSet(cluster)).metadata.uid)
      assert.deepEqual(await revisionsIn(cluster), ['1:one'])
    },
    member,
  )
})

/** Pods that are not gone before the test lets them go. */
