import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { conditionsOf } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { PODS, REPLICA_SETS } from '../../../kinds/kubernetes/resources.ts'
import { controllerOf, controllerReference } from '../../../runtime/workloads/pod/ownership.ts'
import { allReady, aPod, aReplicaSet, eventsOf, podNames, podsIn, setReady, theReplicaSet } from '../../../runtime/workloads/pod/testing.ts'
import { replicaSet } from './controller.ts'

const MEMBER = { members: 1 }

describe('ReplicaSets', () => {
  story(
    'create their pods with the template, a generated name and an owner',
    async (world) => {
      const { member } = world
      const set = await member.create(aReplicaSet('web', { replicas: 3 }))
      await world.settle()
      const pods = await podsIn(member)
      assert.equal(pods.length, 3)
      for (const pod of pods) {
        assert.match(pod.metadata.name ?? '', /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
        assert.equal(pod.metadata.generateName, 'web-')
        assert.deepEqual(pod.metadata.labels, { app: 'web' })
        assert.deepEqual(pod.metadata.ownerReferences, [controllerReference(set)])
      }
      const { status } = await theReplicaSet(member, 'web')
      assert.deepEqual(status, { replicas: 3, fullyLabeledReplicas: 3, terminatingReplicas: 0, observedGeneration: 1 })
      const expected = (await podNames(member)).map((name) => `SuccessfulCreate: Created pod: ${name}`)
      assert.deepEqual((await eventsOf(member, 'ReplicaSet', 'web')).sort(), expected)
    },
    MEMBER,
  )

  story(
    'delete the pods that are worth least when they shrink',
    async (world) => {
      const { member } = world
      await member.create(aReplicaSet('web', { replicas: 3 }))
      await world.settle()
      const [first, ...others] = await podsIn(member)
      assert.ok(first !== undefined)
      await setReady(world, first)
      await member.patch(REPLICA_SETS, 'default/web', { spec: { replicas: 1 } })
      await world.settle()
      assert.deepEqual(await podNames(member), [first.metadata.name])
      const events = await eventsOf(member, 'ReplicaSet', 'web')
      const expected = others.map(({ metadata }) => `SuccessfulDelete: Deleted pod: ${metadata.name}`)
      assert.deepEqual(events.slice(3).sort(), expected)
      const { status } = await theReplicaSet(member, 'web')
      assert.deepEqual(status, {
        replicas: 1,
        fullyLabeledReplicas: 1,
        readyReplicas: 1,
        availableReplicas: 1,
        terminatingReplicas: 0,
        observedGeneration: 2,
      })
    },
    MEMBER,
  )

  story(
    'replace pods that were deleted or are over',
    async (world) => {
      const { member } = world
      await member.create(aReplicaSet('web', { replicas: 2 }))
      await world.settle()
      const [first, second] = await podsIn(member)
      await member.delete(PODS, `default/${first?.metadata.name}`)
      await member.patch(PODS, `default/${second?.metadata.name}`, { status: { phase: 'Failed' } }, 'status')
      await world.settle()
      const active = (await podsIn(member)).filter(({ status }) => status?.phase !== 'Failed')
      assert.equal(active.length, 2)
      assert.ok(active.every(({ metadata }) => metadata.uid !== first?.metadata.uid && metadata.uid !== second?.metadata.uid))
    },
    MEMBER,
  )

  story(
    'never use the name of a pod again, however fast it went',
    async (world) => {
      const { member } = world
      await member.create(aReplicaSet('web', { replicas: 1 }))
      const used = new Set<string>()
      for (let round = 0; round < 5; round++) {
        await world.settle()
        const [name = ''] = await podNames(member)
        assert.ok(!used.has(name), `${name} came back`)
        used.add(name)
        await member.delete(PODS, `default/${name}`, { gracePeriodSeconds: 0 })
      }
    },
    MEMBER,
  )

  story(
    'count pods on their way out apart, and replace them at once under other names',
    async (world) => {
      const { member } = world
      const template = { metadata: { labels: { app: 'web' } }, spec: { nodeName: 'far', containers: [{ name: 'main', image: 'one' }] } }
      await member.create(aReplicaSet('web', { replicas: 1, template }))
      await world.settle()
      const [going] = await podsIn(member)
      await member.delete(PODS, `default/${going?.metadata.name}`)
      await world.inside(() => undefined)
      const pods = await podsIn(member)
      assert.equal(pods.length, 2)
      const { status } = await theReplicaSet(member, 'web')
      assert.equal(status?.replicas, 1)
      assert.equal(status?.terminatingReplicas, 1)
      await member.delete(PODS, `default/${going?.metadata.name}`, { gracePeriodSeconds: 0 })
      await world.settle()
      assert.equal((await theReplicaSet(member, 'web')).status?.terminatingReplicas, 0)
    },
    MEMBER,
  )

  story(
    'wait for minReadySeconds before a pod counts as available',
    async (world) => {
      const { member } = world
      await member.create(aReplicaSet('web', { replicas: 1, minReadySeconds: 60 }))
      await world.settle()
      await allReady(world)
      await world.advance(59_000)
      assert.equal((await theReplicaSet(member, 'web')).status?.readyReplicas, 1)
      assert.equal((await theReplicaSet(member, 'web')).status?.availableReplicas, undefined)
      await world.advance(1000)
      await world.settle()
      assert.equal((await theReplicaSet(member, 'web')).status?.availableReplicas, 1)
    },
    MEMBER,
  )

  story(
    'adopt orphans they select, and release pods that no longer match',
    async (world) => {
      const { member } = world
      await member.create(aPod('lone', { labels: { app: 'web' } }))
      await member.create(aPod('stranger', { labels: { app: 'other' } }))
      const set = await member.create(aReplicaSet('web', { replicas: 2 }))
      await world.settle()
      const pods = await podsIn(member)
      assert.equal(pods.length, 3, 'one adopted, one created, one a stranger')
      const lone = pods.find(({ metadata }) => metadata.name === 'lone')
      assert.deepEqual(lone?.metadata.ownerReferences, [controllerReference(set)])
      await member.patch(PODS, 'default/lone', { metadata: { labels: { app: 'quarantine' } } })
      await world.settle()
      const after = await podsIn(member)
      assert.equal(after.length, 4, 'the released one was replaced')
      assert.equal(after.find(({ metadata }) => metadata.name === 'lone')?.metadata.ownerReferences, undefined)
      await member.patch(PODS, 'default/lone', { metadata: { labels: { app: 'web' } } })
      await world.settle()
      assert.equal((await podsIn(member)).filter((pod) => controllerOf(pod)?.name === 'web').length, 2, 'adopted again, one too many')
    },
    MEMBER,
  )

  story(
    'with one selector do not take pods from each other',
    async (world) => {
      const { member } = world
      const spec = { selector: { matchLabels: { app: 'web' } }, template: aReplicaSet('web').spec?.template }
      await member.create(aReplicaSet('web', { ...spec, replicas: 2 }))
      await member.create(aReplicaSet('twin', { ...spec, replicas: 3 }))
      await world.settle()
      const owners = (await podsIn(member)).map((pod) => controllerOf(pod)?.name).sort()
      assert.deepEqual(owners, ['twin', 'twin', 'twin', 'web', 'web'])
    },
    MEMBER,
  )

  story(
    'tell why pods cannot be created, and go on when they can',
    async (world) => {
      const { member } = world
      const spec = { serviceAccountName: 'robot', containers: [{ name: 'main', image: 'one' }] }
      await member.create(aReplicaSet('web', { replicas: 2, template: { metadata: { labels: { app: 'web' } }, spec } }))
      await world.advance(5000)
      const failed = await theReplicaSet(member, 'web')
      const failure = conditionsOf(failed).get('ReplicaFailure')
      assert.equal(failure?.status, 'True')
      assert.equal(failure?.reason, 'FailedCreate')
      assert.match(failure?.message ?? '', /^pods "web-\w{5}" is forbidden: error looking up service account default\/robot/)
      assert.equal(failed.status?.observedGeneration, 1)
      assert.match((await eventsOf(member, 'ReplicaSet', 'web'))[0] ?? '', /^FailedCreate: Error creating: pods "web-\w{5}" is forbidden/)
      await member.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } })
      await world.settle()
      const cured = await theReplicaSet(member, 'web')
      assert.equal(cured.status?.replicas, 2)
      assert.equal(conditionsOf(cured).has('ReplicaFailure'), false)
      // The failures were reported as they should be.
      assert.ok(member.complaints.every((text) => text.includes('error looking up service account')))
      member.complaints.length = 0
    },
    MEMBER,
  )

  story(
    'leave their pods when they are deleted as orphans, and another finds them',
    async (world) => {
      const { member } = world
      await member.create(aReplicaSet('web', { replicas: 2 }))
      await world.settle()
      const before = await podNames(member)
      await member.delete(REPLICA_SETS, 'default/web', { propagationPolicy: 'Orphan' })
      await world.settle()
      assert.deepEqual(await podNames(member), before)
      assert.ok((await podsIn(member)).every((pod) => controllerOf(pod) === undefined))
      await member.create(
        aReplicaSet('heir', { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: aReplicaSet('web').spec?.template }),
      )
      await world.settle()
      assert.deepEqual(await podNames(member), before)
      assert.ok((await podsIn(member)).every((pod) => controllerOf(pod)?.name === 'heir'))
    },
    MEMBER,
  )
})

survives(replicaSet, {
  steps: [
    (cluster) => cluster.create(aReplicaSet('web', { replicas: 3 })),
    async (cluster) => cluster.delete(PODS, `default/${(await podNames(cluster))[0]}`),
    (cluster) => cluster.patch(REPLICA_SETS, 'default/web', { spec: { replicas: 1 } }),
  ],
  invariants: [
    {
      says: 'a ReplicaSet never has more pods than were ever asked for',
      broken: (stored) => (stored.list('pods').length > 3 ? `${stored.list('pods').length} pods` : undefined),
    },
  ],
  async atRest(cluster) {
    assert.equal((await podsIn(cluster)).length, 1)
    assert.equal((await theReplicaSet(cluster, 'web')).status?.replicas, 1)
  },
})
