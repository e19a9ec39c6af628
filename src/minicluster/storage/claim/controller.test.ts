import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { type Invariant, survives } from '../../../faultsim/survives.ts'
import { EVENTS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES } from '../../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kinds/kubernetes/types.ts'
import { eventsOf } from '../../../runtime/workloads/pod/testing.ts'
import { SELECTED_NODE, STORAGE_PROVISIONER } from '../names.ts'
import { aClaim, aClass, aPodWith, aVolume, bindingsIn, theClaim, theVolume } from '../testing.ts'
import { claimBinding } from './controller.ts'

const MEMBER = { members: 1 }
const WAITING = { volumeBindingMode: 'WaitForFirstConsumer' }

describe('claims are bound', () => {
  story(
    'to the smallest volume that fits, with everything Kubernetes writes about it',
    async (world) => {
      const { member } = world
      await member.create(aVolume('large', { capacity: { storage: '10Gi' } }))
      await member.create(aVolume('small', { capacity: { storage: '100Mi' } }))
      await member.create(aVolume('right', { capacity: { storage: '2Gi' } }))
      await world.settle()
      await member.create(aClaim('mine'))
      await world.settle()
      const claim = await theClaim(member, 'mine')
      const volume = await theVolume(member, 'right')
      assert.equal(claim?.spec?.volumeName, 'right')
      assert.deepEqual(claim?.metadata.annotations, {
        'pv.kubernetes.io/bind-completed': 'yes',
        'pv.kubernetes.io/bound-by-controller': 'yes',
      })
      assert.deepEqual(claim?.status, { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } })
      assert.equal(volume?.status?.phase, 'Bound')
      assert.deepEqual(volume?.metadata.annotations, { 'pv.kubernetes.io/bound-by-controller': 'yes' })
      const { resourceVersion: _revision, ...ref } = volume?.spec?.claimRef ?? {}
      assert.deepEqual(ref, {
        kind: 'PersistentVolumeClaim',
        namespace: 'default',
        name: 'mine',
        uid: claim?.metadata.uid,
        apiVersion: 'v1',
      })
      assert.equal((await theVolume(member, 'large'))?.status?.phase, 'Available')
    },
    MEMBER,
  )

  story(
    'whenever a volume comes, however late',
    async (world) => {
      const { member } = world
      await member.create(aClaim('early'))
      await world.settle()
      const why = 'no persistent volumes available for this claim and no storage class is set'
      assert.deepEqual(await eventsOf(member, 'PersistentVolumeClaim', 'early'), [`FailedBinding: ${why}`])
      await member.create(aVolume('late'))
      await world.settle()
      assert.deepEqual(await bindingsIn(member), ['early → late', 'late ← early'])
    },
    MEMBER,
  )

  story(
    'to the volume they name, when it fits, and are told when it does not',
    async (world) => {
      const { member } = world
      await member.create(aVolume('small', { capacity: { storage: '1Mi' } }))
      await member.create(aVolume('right'))
      await member.create(aClaim('wrong', { volumeName: 'small' }))
      await member.create(aClaim('good', { volumeName: 'right' }))
      await member.create(aClaim('second', { volumeName: 'right' }))
      await member.create(aClaim('nowhere', { volumeName: 'none' }))
      await world.settle()
      assert.equal((await theClaim(member, 'good'))?.status?.phase, 'Bound')
      assert.deepEqual((await theClaim(member, 'good'))?.metadata.annotations, { 'pv.kubernetes.io/bind-completed': 'yes' })
      for (const name of ['wrong', 'second', 'nowhere']) assert.equal((await theClaim(member, name))?.status?.phase, 'Pending', name)
      assert.deepEqual(await eventsOf(member, 'PersistentVolumeClaim', 'wrong'), [
        'VolumeMismatch: Cannot bind to requested volume "small": requested PV is too small',
      ])
      assert.deepEqual(await eventsOf(member, 'PersistentVolumeClaim', 'second'), [
        'FailedBinding: volume "right" already bound to a different claim.',
      ])
    },
    MEMBER,
  )

  story(
    'to the volume that is reserved for them, before any that fits better',
    async (world) => {
      const { member } = world
      await member.create(aVolume('best'))
      await member.create(aVolume('reserved', { capacity: { storage: '5Gi' }, claimRef: { namespace: 'default', name: 'mine' } }))
      await member.create(aClaim('other'))
      await member.create(aClaim('mine'))
      await world.settle()
      assert.deepEqual(await bindingsIn(member), ['best ← other', 'mine → reserved', 'other → best', 'reserved ← mine'])
      assert.equal((await theVolume(member, 'reserved'))?.metadata.annotations, undefined, 'bound by a person')
    },
    MEMBER,
  )

  story(
    'by class, selector, mode and access',
    async (world) => {
      const { member } = world
      const fast = { storageClassName: 'fast' }
      await member.create(aVolume('block', { ...fast, volumeMode: 'Block' }))
      await member.create(aVolume('many', { ...fast, accessModes: ['ReadWriteOnce', 'ReadWriteMany'], capacity: { storage: '1Gi' } }))
      await member.create(aVolume('blue', { ...fast, capacity: { storage: '3Gi' } }, { labels: { color: 'blue' } }))
      await member.create(aVolume('plain', fast))
      await world.settle()
      await member.create(aClaim('device', { ...fast, volumeMode: 'Block' }))
      await member.create(aClaim('painted', { ...fast, selector: { matchLabels: { color: 'blue' } } }))
      await member.create(aClaim('shared', { ...fast, accessModes: ['ReadWriteMany'] }))
      await member.create(aClaim('simple', fast))
      await member.create(aClaim('classless'))
      await world.settle()
      const bound = (await bindingsIn(member)).filter((line) => line.includes('→'))
      assert.deepEqual(bound, ['device → block', 'painted → blue', 'shared → many', 'simple → plain'])
    },
    MEMBER,
  )
})

describe('claims wait', () => {
  story(
    'for their first consumer, and say so once, also after a restart',
    async (world) => {
      const { member } = world
      await member.create(aClass('waiting', WAITING))
      await member.create(aVolume('there', { storageClassName: 'waiting' }))
      await member.create(aClaim('mine', { storageClassName: 'waiting' }))
      await world.settle()
      const first = 'WaitForFirstConsumer: waiting for first consumer to be created before binding'
      assert.deepEqual(await eventsOf(member, 'PersistentVolumeClaim', 'mine'), [first])
      assert.deepEqual(await bindingsIn(member), [])
      await member.create(aPodWith('user', 'mine'))
      await world.restartControllers()
      await world.settle()
      const second = 'WaitForPodScheduled: waiting for pod user to be scheduled'
      assert.deepEqual((await eventsOf(member, 'PersistentVolumeClaim', 'mine')).sort(), [first, second])
    },
    MEMBER,
  )

  story(
    'and the news stays as long as the state, though events expire',
    async (world) => {
      const { member } = world
      await member.create(aClass('waiting', WAITING))
      await member.create(aClaim('mine', { storageClassName: 'waiting' }))
      await world.settle()
      await world.advance(3 * 3600_000)
      await world.settle()
      assert.equal((await eventsOf(member, 'PersistentVolumeClaim', 'mine')).length, 1)
      await member.delete(PERSISTENT_VOLUME_CLAIMS, 'default/mine')
      await world.advance(2 * 3600_000)
      assert.deepEqual(
        (await member.list(EVENTS, { namespace: 'default' })).filter(({ reason }) => reason === 'WaitForFirstConsumer'),
        [],
      )
    },
    MEMBER,
  )

  story(
    'for an outside provisioner, whose volume they take',
    async (world) => {
      const { member } = world
      await member.create(aClass('disks', WAITING))
      const claim = await member.create(aClaim('mine', { storageClassName: 'disks' }, { annotations: { [SELECTED_NODE]: 'node' } }))
      await world.settle()
      const asked = await theClaim(member, 'mine')
      assert.equal(asked?.metadata.annotations?.[STORAGE_PROVISIONER], 'example.com/disks')
      assert.equal(asked?.metadata.annotations?.['volume.beta.kubernetes.io/storage-provisioner'], 'example.com/disks')
      assert.deepEqual(await eventsOf(member, 'PersistentVolumeClaim', 'mine'), [
        "ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'example.com/disks' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.",
      ])
      const claimRef = { namespace: 'default', name: 'mine', uid: claim.metadata.uid }
      await member.create(aVolume('made', { storageClassName: 'disks', claimRef }))
      await world.settle()
      assert.equal((await theClaim(member, 'mine'))?.status?.phase, 'Bound')
      assert.equal((await theVolume(member, 'made'))?.status?.phase, 'Bound')
    },
    MEMBER,
  )

  story(
    'for a class that comes later, and get the default class when they name none',
    async (world) => {
      const { member } = world
      await member.delete(STORAGE_CLASSES, 'local')
      await member.create(aClaim('early', { storageClassName: 'later' }))
      await member.create(aClaim('any', { storageClassName: undefined }))
      await world.settle()
      assert.deepEqual(await eventsOf(member, 'PersistentVolumeClaim', 'early'), [
        'ProvisioningFailed: storageclass.storage.k8s.io "later" not found',
      ])
      await member.create(
        aClass('later', { metadata: { name: 'later', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } }),
      )
      await world.settle()
      for (const name of ['early', 'any']) {
        const claim = await theClaim(member, name)
        assert.equal(claim?.spec?.storageClassName, 'later')
        assert.equal(claim?.metadata.annotations?.[STORAGE_PROVISIONER], 'example.com/disks')
      }
    },
    MEMBER,
  )
})

describe('bound claims', () => {
  story(
    'are lost with their volume, and found again with it',
    async (world) => {
      const { member } = world
      await member.create(aVolume('only'))
      await member.create(aClaim('mine'))
      await world.settle()
      await member.patch(PERSISTENT_VOLUMES, 'only', { metadata: { finalizers: null } })
      await member.delete(PERSISTENT_VOLUMES, 'only')
      await member.patch(PERSISTENT_VOLUMES, 'only', { metadata: { finalizers: null } })
      await world.settle()
      assert.deepEqual((await theClaim(member, 'mine'))?.status, { phase: 'Lost' })
      assert.deepEqual(await eventsOf(member, 'PersistentVolumeClaim', 'mine'), [
        'ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!',
      ])
      await member.create(aVolume('only'))
      await world.settle()
      assert.equal((await theClaim(member, 'mine'))?.status?.phase, 'Bound')
    },
    MEMBER,
  )

  story(
    'that find another on their volume are misbound',
    async (world) => {
      const { member } = world
      await member.create(aVolume('only'))
      await member.create(aClaim('mine'))
      await world.settle()
      const done = { 'pv.kubernetes.io/bind-completed': 'yes' }
      await member.create(aClaim('thief', { volumeName: 'only' }, { annotations: done }))
      await world.settle()
      assert.deepEqual((await theClaim(member, 'thief'))?.status, { phase: 'Lost' })
      assert.deepEqual(await eventsOf(member, 'PersistentVolumeClaim', 'thief'), [
        'ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly',
      ])
      assert.equal((await theClaim(member, 'mine'))?.status?.phase, 'Bound')
    },
    MEMBER,
  )

  story(
    'set free a second volume that was given to them',
    async (world) => {
      const { member } = world
      await member.create(aVolume('one'))
      const claim = await member.create(aClaim('mine'))
      await world.settle()
      const claimRef = { namespace: 'default', name: 'mine', uid: claim.metadata.uid }
      await member.create(aVolume('two', { claimRef }, { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } }))
      await member.create(aVolume('three', { claimRef }))
      await world.settle()
      const [two, three] = [await theVolume(member, 'two'), await theVolume(member, 'three')]
      assert.equal(two?.spec?.claimRef, undefined)
      assert.equal(two?.metadata.annotations, undefined)
      assert.deepEqual(three?.spec?.claimRef, { namespace: 'default', name: 'mine' })
      assert.deepEqual([two?.status?.phase, three?.status?.phase], ['Available', 'Available'])
    },
    MEMBER,
  )
})

const oneClaimPerVolume: Invariant = {
  says: 'a volume is never bound to two claims',
  broken(view) {
    const claims = view.list('persistentvolumeclaims') as PersistentVolumeClaim[]
    const taken = claims.flatMap(({ spec }) => ((spec?.volumeName ?? '') === '' ? [] : [spec?.volumeName]))
    const twice = taken.find((name, i) => taken.indexOf(name) !== i)
    return twice === undefined ? undefined : `${twice} is named by two claims`
  },
}

/** The claim's half of the binding follows the volume's. */
const volumeFirst: Invariant = {
  says: 'a claim names only a volume that refers to it',
  broken(view) {
    const volumes = new Map((view.list('persistentvolumes') as PersistentVolume[]).map((volume) => [volume.metadata.name, volume]))
    const claims = view.list('persistentvolumeclaims') as PersistentVolumeClaim[]
    const wrong = claims.find(({ metadata, spec }) => {
      const name = spec?.volumeName ?? ''
      return name !== '' && volumes.get(name)?.spec?.claimRef?.uid !== metadata.uid
    })
    return wrong === undefined ? undefined : `${wrong.metadata.name} names ${wrong.spec?.volumeName}`
  },
}

survives(claimBinding(), {
  steps: [
    (cluster) => cluster.create(aClaim('gone')),
    (cluster) => cluster.delete(PERSISTENT_VOLUME_CLAIMS, 'default/gone'),
    (cluster) => cluster.create(aVolume('a')),
    (cluster) => cluster.create(aVolume('b', { capacity: { storage: '2Gi' } })),
    (cluster) =>
      cluster.inside(async () => {
        await cluster.client.create(PERSISTENT_VOLUME_CLAIMS, aClaim('one'))
        // Only one fits it, so the outcome does not depend on the order of events.
        await cluster.client.create(PERSISTENT_VOLUME_CLAIMS, aClaim('two', { resources: { requests: { storage: '2Gi' } } }))
      }),
  ],
  invariants: [oneClaimPerVolume, volumeFirst],
  async atRest(cluster) {
    const lines = await bindingsIn(cluster)
    assert.equal(lines.length, 4, lines.join())
    for (const name of ['one', 'two']) assert.equal((await theClaim(cluster, name))?.status?.phase, 'Bound')
  },
})
